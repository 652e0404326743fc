/* SPDX-License-Identifier: MIT */
/*
 * Structured fields: what comes out, in a notation of one line. A member is "key:value", a
 * parameter "key=value" in angle brackets, an inner list in parentheses, a broken field ends in X.
 */
#include "exact.h"

#include "core/rng.h"
#include "signal/fields.h"
#include "util/text.h"

static void put_field(struct text *t, const struct field *v, const char *between)
{
    char meaning[512];
    size_t length = fb_bare_decode(&v->value, meaning, sizeof meaning);

    fb_text_add_bytes(t, v->key.at ? v->key.at : "", v->key.length);
    fb_text_add(t, between);
    switch (v->value.type) {
    case BARE_INTEGER:
    case BARE_DATE:
    case BARE_DECIMAL:
        fb_text_add_int(t, v->value.number);
        break;
    case BARE_BOOLEAN:
        fb_text_add(t, v->value.number ? "yes" : "no");
        break;
    case BARE_STRING:
    case BARE_TOKEN:
    case BARE_BYTES:
    case BARE_DISPLAY:
        fb_text_add_bytes(t, meaning, length);
        break;
    }
}

static void put_event(struct text *t, enum field_event event, const struct field *v)
{
    switch (event) {
    case FIELD_MEMBER:
        fb_text_add(t, " ");
        put_field(t, v, v->key.length ? ":" : "");
        break;
    case FIELD_PARAMETER:
        fb_text_add(t, "<");
        put_field(t, v, "=");
        fb_text_add(t, ">");
        break;
    case FIELD_OPEN:
        fb_text_add(t, " ");
        fb_text_add_bytes(t, v->key.at ? v->key.at : "", v->key.length);
        fb_text_add(t, "(");
        break;
    case FIELD_CLOSE:
        fb_text_add(t, " )");
        break;
    case FIELD_BROKEN:
        fb_text_add(t, " X");
        break;
    case FIELD_END:
        break;
    }
}

static void describe(enum fields_kind kind, struct slice text, char *line, size_t size)
{
    struct fields f;
    struct field v;
    struct text t;
    enum field_event event;
    size_t events = 0;

    fb_text_init(&t, line, size);
    fb_fields_init(&f, kind, text);
    do {
        event = fb_fields_next(&f, &v);
        put_event(&t, event, &v);
        assert_true(++events <= text.length + 1);
    } while (event != FIELD_END && event != FIELD_BROKEN);
    /* It stays as it is, and the other way to ask gives the same answer. */
    assert_int_equal(fb_fields_next(&f, &v), event);
    assert_int_equal(fb_fields_valid(kind, text), event == FIELD_END);
}

struct row {
    const char *text;
    const char *line;
};

static void check(enum fields_kind kind, const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char line[1024];
        describe(kind, exact(rows[i].text), line, sizeof line);
        if (strcmp(line, rows[i].line) != 0)
            fail_msg("%s\n gives %s\n  not  %s", rows[i].text, line, rows[i].line);
    }
}

static void single_items(void **state)
{
    static const struct row rows[] = {
        {"5", " 5"},
        {"  5  ", " 5"},
        {"5;a;b=2;  c=\"x\"", " 5<a=yes><b=2><c=x>"},
        {"\"a\\\"b\";q=1.5", " a\"b<q=1500>"},
        {"@7;x=@8", " 7<x=8>"},
        {"?0;x=?0", " no<x=no>"},
        {"", " X"},
        {"  ", " X"},
        {"\t5", " X"},
        {"5\t", " 5 X"},
        {"5,6", " 5 X"},
        {"5 6", " 5 X"},
        {"5 ;a", " 5 X"},
        {"5;", " 5 X"},
        {"5; ", " 5 X"},
        {"5;;", " 5 X"},
        {"5;A", " 5 X"},
        {"5;~", " 5 X"},
        {"5;1", " 5 X"},
        {"5;a=", " 5 X"},
        {"5;a= 1", " 5 X"},
        {"5;a =1", " 5<a=yes> X"},
        {"5;a=(1)", " 5 X"},
        {"(1)", " X"},
        {"a=1", " a X"},
    };

    (void)state;
    check(FIELDS_ITEM, rows, COUNT_OF(rows));
}

static void lists(void **state)
{
    static const struct row rows[] = {
        {"", ""},
        {"  ", ""},
        {"\"default\";r=50;t=30", " default<r=50><t=30>"},
        {"\"permin\";q=50;w=60,\"perhr\";q=1000;w=3600",
         " permin<q=50><w=60> perhr<q=1000><w=3600>"},
        {"\"peruser\";q=65535;qu=\"content-bytes\";w=10;pk=:aGk=:",
         " peruser<q=65535><qu=content-bytes><w=10><pk=hi>"},
        {"10, 10;w=1, 50;w=60", " 10 10<w=1> 50<w=60>"},
        {"500; w=60", " 500<w=60>"},
        {"1\t,\t2 , 3", " 1 2 3"},
        {"1\t", " 1"},
        {"(1 2), (3);a", " ( 1 2 ) ( 3 )<a=yes>"},
        {"()", " ( )"},
        {"(  1   2  )", " ( 1 2 )"},
        {"(a;b=1;c \"d\")", " ( a<b=1><c=yes> d )"},
        {"a;b=1;c=2;b=3", " a<b=1><c=2><b=3>"},
        {"\"fixed window\";\"api\";q=1000;w=300", " fixed window X"},
        {"\"a\";r=10;t=5, garbage;;;, \"b\";r=x", " a<r=10><t=5> garbage X"},
        {"\"default\";r=50.7;t=-30", " default<r=50700><t=-30>"},
        {"1,", " 1 X"},
        {"1, ", " 1 X"},
        {",1", " X"},
        {"1,,2", " 1 X"},
        {"1 2", " 1 X"},
        {"1;a 2", " 1<a=yes> X"},
        {"\t1", " X"},
        {"(", " ( X"},
        {"(1", " ( 1 X"},
        {"(1 ", " ( 1 X"},
        {"(1\t2)", " ( 1 X"},
        {"(1,2)", " ( 1 X"},
        {"(1\"a\")", " ( 1 X"},
        {"((1))", " ( X"},
        {"(1;)", " ( 1 X"},
        {"(1))", " ( 1 ) X"},
        {"(1)(2)", " ( 1 ) X"},
        {")", " X"},
    };

    (void)state;
    check(FIELDS_LIST, rows, COUNT_OF(rows));
}

static void dictionaries(void **state)
{
    static const struct row rows[] = {
        {"", ""},
        {"limit=100, remaining=50, reset=5", " limit:100 remaining:50 reset:5"},
        {"a, b;x=9, c=?0", " a:yes b:yes<x=9> c:no"},
        {"a=(1 2);w=3, b=()", " a( 1 2 )<w=3> b( )"},
        {"a=1,b=2,a=3", " a:1 b:2 a:3"},
        {"*a.b_c-d9=x", " *a.b_c-d9:x"},
        {"zaz=1, az", " zaz:1 az:yes"},
        {"a=1,b=2,", " a:1 b:2 X"},
        {"a=1,1b=2", " a:1 X"},
        {"a=1,B=2", " a:1 X"},
        {"a =1", " a:yes X"},
        {"a= 1", " X"},
        {"a=", " X"},
        {"=1", " X"},
        {"(1)", " X"},
        {"a(1)", " a:yes X"},
        {"a=(1", " a( 1 X"},
    };

    (void)state;
    check(FIELDS_DICTIONARY, rows, COUNT_OF(rows));
}

static void a_nul_is_a_byte_like_any_other(void **state)
{
    char line[64];

    (void)state;
    describe(FIELDS_LIST, (struct slice){"1\0", 2}, line, sizeof line);
    assert_string_equal(line, " 1 X");
    describe(FIELDS_LIST, (struct slice){NULL, 0}, line, sizeof line);
    assert_string_equal(line, "");
    describe(FIELDS_ITEM, (struct slice){NULL, 0}, line, sizeof line);
    assert_string_equal(line, " X");
}

/* ----------------------------------------------------------- fields drawn at random, read back */

struct pen {
    struct text field; /* as a server writes it */
    struct text line;  /* what is to come out */
    struct rng r;
};

static uint64_t draw(struct pen *p, uint64_t below)
{
    return fb_rng_next(&p->r) % below;
}

static void blanks(struct pen *p, const char *which)
{
    for (uint64_t n = draw(p, 3); n > 0; n--)
        fb_text_add_bytes(&p->field, which + draw(p, strlen(which)), 1);
}

static void draw_value(struct pen *p)
{
    static const struct row values[] = {
        {"7", "7"},
        {"-12", "-12"},
        {"0.5", "500"},
        {"\"a, b; c=(\"", "a, b; c=("},
        {"tok/9", "tok/9"},
        {"?0", "no"},
        {":aGk=:", "hi"},
        {"@99", "99"},
        {"%\"%c3%bc\"", "\303\274"},
        {"\"\\\"\"", "\""},
    };
    const struct row *row = &values[draw(p, COUNT_OF(values))];

    fb_text_add(&p->field, row->text);
    fb_text_add(&p->line, row->line);
}

static void draw_key(struct pen *p)
{
    static const char *const keys[] = {"a", "w", "q", "*x", "long-key_1.2", "t9"};
    const char *key = keys[draw(p, COUNT_OF(keys))];

    fb_text_add(&p->field, key);
    fb_text_add(&p->line, key);
}

static void draw_parameters(struct pen *p)
{
    for (uint64_t n = draw(p, 3); n > 0; n--) {
        fb_text_add(&p->field, ";");
        blanks(p, " ");
        fb_text_add(&p->line, "<");
        draw_key(p);
        fb_text_add(&p->line, "=");
        if (draw(p, 3) == 0) {
            fb_text_add(&p->line, "yes");
        } else {
            fb_text_add(&p->field, "=");
            draw_value(p);
        }
        fb_text_add(&p->line, ">");
    }
}

static void draw_inner_list(struct pen *p)
{
    fb_text_add(&p->field, "(");
    fb_text_add(&p->line, "(");
    for (uint64_t n = draw(p, 3); n > 0; n--) {
        blanks(p, " ");
        fb_text_add(&p->line, " ");
        draw_value(p);
        draw_parameters(p);
        fb_text_add(&p->field, " ");
    }
    blanks(p, " ");
    fb_text_add(&p->field, ")");
    fb_text_add(&p->line, " )");
}

static void draw_member(struct pen *p, enum fields_kind kind)
{
    bool is_list = kind != FIELDS_ITEM && draw(p, 3) == 0;

    fb_text_add(&p->line, " ");
    if (kind == FIELDS_DICTIONARY) {
        draw_key(p);
        fb_text_add(&p->field, "=");
        fb_text_add(&p->line, is_list ? "" : ":");
    }
    if (is_list)
        draw_inner_list(p);
    else
        draw_value(p);
    draw_parameters(p);
}

static void what_is_drawn_is_read_back(void **state)
{
    uint64_t seed = seed_of_run();

    (void)state;
    for (uint64_t i = 0; i < 20000; i++) {
        char field[2048], want[2048], got[2048];
        struct pen p = {.r = {seed + i}};
        enum fields_kind kind = (enum fields_kind)draw(&p, 3);
        uint64_t members = kind == FIELDS_ITEM ? 1 : draw(&p, 5);

        fb_text_init(&p.field, field, sizeof field);
        fb_text_init(&p.line, want, sizeof want);
        blanks(&p, " ");
        for (uint64_t n = 0; n < members; n++) {
            if (n > 0) {
                blanks(&p, " \t");
                fb_text_add(&p.field, ",");
                blanks(&p, " \t");
            }
            draw_member(&p, kind);
        }
        blanks(&p, " ");
        describe(kind, exact(field), got, sizeof got);
        if (strcmp(got, want) != 0)
            fail_msg("%s\n gives %s\n  not  %s", field, got, want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_items),
        cmocka_unit_test(lists),
        cmocka_unit_test(dictionaries),
        cmocka_unit_test(a_nul_is_a_byte_like_any_other),
        cmocka_unit_test(what_is_drawn_is_read_back),
    };

    return cmocka_run_group_tests_name("fields", tests, NULL, NULL);
}
