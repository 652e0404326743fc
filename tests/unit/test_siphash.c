/* SPDX-License-Identifier: MIT */
/* SipHash against its published vectors; lists of texts against the messages they stand for. */
#include "unit.h"

#include "ledger/siphash.h"

/* Of the bytes 0, 1, 2, ... under the secret 0, 1, ... 15, as published with the function. */
static const struct {
    size_t size;
    const char *narrow;
    const char *wide;
} vectors[] = {
    {0, "310e0edd47db6f72", "a3817f04ba25a8e66df67214c7550293"},
    {1, "fd67dc93c539f874", "da87c1d86b99af44347659119b22fc45"},
    {2, "5a4fa9d909806c0d", "8177228da4a45dc7fca38bdef60affe4"},
    {3, "2d7efbd796666785", "9c70b60c5267a94e5f33b6b02985ed51"},
    {4, "b7877127e09427cf", "f88164c12d9c8faf7d0f6e7c7bcd5579"},
    {5, "8da699cd64557618", "1368875980776f8854527a07690e9627"},
    {6, "cee3fe586e46c9cb", "14eeca338b208613485ea0308fd7a15e"},
    {7, "37d1018bf50002ab", "a1f1ebbed8dbc153c0b84aa61ff08239"},
    {8, "6224939a79f5f593", "3b62a9ba6258f5610f83e264f31497b4"},
    {9, "b0e4a90bdf82009e", "264499060ad9baabc47f8b02bb6d71ed"},
    {15, "e545be4961ca29a1", "5493e99933b0a8117e08ec0f97cfc3d9"},
    {16, "db9bc2577fcc2a3f", "6ee2a4ca67b054bbfd3315bf85230577"},
    {31, "42c341d8fa92d832", "2939b0183223fafc1723de4f52c43d35"},
    {32, "ce7cf2722f512771", "7c3956ca5eeafc3e363e9d556546eb68"},
    {63, "724506eb4c328a95", "5150d1772f50834a503e069a973fbd7c"},
};

static struct siphash_secret published_secret(void)
{
    unsigned char bytes[FB_SIPHASH_SECRET_BYTES];

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)i;
    return fb_siphash_secret(bytes);
}

/* The bytes of a result as the publication prints them. */
static void print_hex(const uint64_t *word, size_t words, char *ret_hex)
{
    for (size_t i = 0; i < words * 8; i++)
        (void)snprintf(ret_hex + 2 * i, 3, "%02x", (unsigned)(word[i / 8] >> (i % 8 * 8) & 0xff));
}

static void the_published_vectors(void **state)
{
    struct siphash_secret secret = published_secret();
    unsigned char bytes[64];
    char hex[33];

    (void)state;
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)i;
    for (size_t i = 0; i < COUNT_OF(vectors); i++) {
        uint64_t narrow = fb_siphash(&secret, bytes, vectors[i].size);
        print_hex(&narrow, 1, hex);
        assert_string_equal(hex, vectors[i].narrow);
        struct siphash_wide wide = fb_siphash_wide(&secret, bytes, vectors[i].size);
        print_hex(wide.word, 2, hex);
        assert_string_equal(hex, vectors[i].wide);
    }
}

static void a_list_is_the_hash_of_its_message(void **state)
{
    static const char *const texts[] = {"api.example", "", "12345678"};
    static const unsigned char message[] = "\x0b\0\0\0\0\0\0\0api.example\0\0\0\0\0"
                                           "\0\0\0\0\0\0\0\0"
                                           "\x08\0\0\0\0\0\0\0"
                                           "12345678";
    struct siphash_secret secret = published_secret();
    struct siphash_wide list = fb_siphash_list(&secret, texts, 3);
    struct siphash_wide whole = fb_siphash_wide(&secret, message, sizeof(message) - 1);

    (void)state;
    assert_memory_equal(&list, &whole, sizeof(list));
}

/* What a separator would make the same. */
static void lists_that_look_alike_differ(void **state)
{
    static const char *const lists[][3] = {
        {"a", "b", "c"},       {"a@b", "", "c"},      {"a", "b@", "c"},      {"", "a", "bc"},
        {"ab", "", "c"},       {"ab", "c", ""},       {"", "", "abc"},       {"abc", "", ""},
        {"a", "b", "c "},      {"a\n", "b", "c"},     {"A", "b", "c"},       {"", "", ""},
        {"12345678", "", "c"}, {"1234567", "8", "c"}, {"12345678c", "", ""},
    };
    struct siphash_secret secret = published_secret();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(lists); i++)
        for (size_t j = 0; j < i; j++) {
            struct siphash_wide a = fb_siphash_list(&secret, lists[i], 3);
            struct siphash_wide b = fb_siphash_list(&secret, lists[j], 3);
            assert_memory_not_equal(&a, &b, sizeof(a));
        }
}

static void another_secret_gives_another_hash(void **state)
{
    static const char *const texts[] = {"api.example", "core", "token"};
    struct siphash_secret one = published_secret();
    struct siphash_secret other = one;

    (void)state;
    other.word[1] ^= 1;
    struct siphash_wide a = fb_siphash_list(&one, texts, 3);
    struct siphash_wide b = fb_siphash_list(&other, texts, 3);
    assert_true(a.word[0] != b.word[0] && a.word[1] != b.word[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_published_vectors),
        cmocka_unit_test(a_list_is_the_hash_of_its_message),
        cmocka_unit_test(lists_that_look_alike_differ),
        cmocka_unit_test(another_secret_gives_another_hash),
    };

    return cmocka_run_group_tests_name("siphash", tests, NULL, NULL);
}
