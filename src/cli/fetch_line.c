/* SPDX-License-Identifier: MIT */
/* fetch_line.c - the options of `flyball fetch`. */
#include "cli/command.h"
#include "cli/fetch.h"

#define OPTION_TARGET struct fetch_line
#define SHORTEST_S    0.001 /* of a deadline */

const struct option_row fb_fetch_options[] = {
    {"", OPTION_MANY(words, "LIST | URL..."), .expects = "at most 256 words"},

    {"-i,--input", OPTION_FILE(list, "LIST"), .group = "List",
     .about = "the list; - is standard input"},
    {"--paginate", OPTION_FLAG(paginate),
     .about = "follow Link headers with rel=next; each page is a result of its own"},
    {"--cursor", OPTION_TEXT(cursor, "POINTER[=NAME]"), .expects = "a JSON pointer such as /next",
     .about = "the same by the URL at this JSON pointer of the body, or by the cursor there, which "
              "goes into the parameter NAME"},
    {"--pages", OPTION_INT(pages, "N", 1, 1e9), .standard = "1000",
     .about = "at most so many pages of one request"},
    {"--keep-going", OPTION_FLAG(keep_going),
     .about = "pass over lines that are no requests; each is told, and the exit status is 3"},

    {"--jsonl", OPTION_FILE(jsonl, "FILE"), .group = "Output",
     .about = "write the results there instead of standard output"},
    {"-o,--output", OPTION_FOLDER(folder, "DIR"),
     .about = "write each body to a file of its own, named by the id, and the results to "
              "flyball.jsonl there"},
    {"--no-bodies", OPTION_FLAG(no_bodies), .about = "leave bodies out of the results"},
    {"-q,--quiet", OPTION_FLAG(quiet), .about = "say nothing unless something is wrong"},
    {"--progress", OPTION_WORD(progress, "auto", "bar", "plain", "json", "none"),
     .standard = "auto",
     .about = "how it is shown how far it is; auto: a bar on a terminal, plain lines elsewhere"},
    {"--color", OPTION_WORD(color, "auto", "always", "never"), .standard = "auto",
     .about = "whether waits stand out in colour; auto: on a terminal unless NO_COLOR is set"},

    {"--metrics-csv", OPTION_FILE(metrics_csv, "FILE"),
     .about = "write a row a second there: rate, limit, waits, refusals, latencies"},
    {"--log", OPTION_FILE(log, "FILE"),
     .about = "append a line there for each request, answer, wait and outcome"},
    {"--log-form", OPTION_WORD(log_form, "json", "logfmt"), .standard = "json",
     .about = "how these lines are written"},
    {"--report", OPTION_FILE(report, "FILE"), .expects = "a file named .html or .svg",
     .about = "at the end draw rate against limit, waits and latencies: a page (.html), which is "
              "the dashboard with these figures in it and needs nothing else, or a picture (.svg)"},

    {"--journal", OPTION_FILE(journal, "FILE"), .group = "Again",
     .about = "keep the journal there"},
    {"--fresh", OPTION_FLAG(fresh), .is_once = true,
     .about = "forget what was finished, and the output with it, whoever wrote it; without this an "
              "output that holds something else is left alone"},
    {"--retry-failed", OPTION_FLAG(retry_failed),
     .about = "do once more what has failed or was skipped; the old results leave the output"},
    {"--deferred", OPTION_FLAG(deferred),
     .about = "do once more what was deferred, not before its time"},
    {"--conditional", OPTION_FLAG(conditional),
     .about = "keep answers with their validators, and ask again only if they have changed"},

    {"--submit", OPTION_FLAG(submit), .group = "Pace",
     .about =
         "hand the batch to the daemon, which has limits and credentials of its own, and after a "
         "restart wants it handed over again; a $TRACEPARENT goes with it"},
    {"--plan", OPTION_FLAG(plan),
     .about = "send nothing; say how many requests there are, which limit decides and how long "
              "they take"},
    {"--json", OPTION_FLAG(json), .about = "with --plan: as one JSON object"},
    {"--robots", OPTION_FLAG(robots), .about = "read the robots.txt of each origin and keep to it"},
    {"--limit", OPTION_MANY(limits, "[HOST=]SPEC"), .expects = "a limit text such as 'rate=10/s'",
     .about = "the limit of every key, or of those of one host, as in flyball-limits(7)"},
    {"--rate", OPTION_TEXT(rate, "R"), .expects = "a rate such as 10/s",
     .about = "the same as --limit rate=R"},
    {"--concurrency", OPTION_INT(concurrency, "N", 1, 10000), .standard = "40",
     .about = "at most so many requests at a time in all"},
    {"--config", OPTION_FILE(config, "FILE|none"),
     .about = "providers, limits and how to send from this file, as in flyball.yaml(5); not said: "
              "where flyball-config(1) looks"},
    {"-s,--set", OPTION_MANY(set, "KEY=VALUE"), .has_keys = true,
     .expects = "a key such as providers.github.rate=5/s", .about = "a value of the configuration"},
    {"--provider", OPTION_TEXT(provider, "NAME"), .has_providers = true,
     .expects = "the name of a provider",
     .about = "all requests are under the limits of this provider, whatever their host"},
    {"--ledger", OPTION_FILE(ledger, "FILE|none"),
     .about = "the file in which all processes of the user find the same limits; none: those of "
              "this process alone"},

    {"--connect-timeout", OPTION_SPAN(connect_ns, "TIME"), .group = "Time", .low = SHORTEST_S,
     .standard = "10s", .about = "for a connection, TLS included"},
    {"--read-timeout", OPTION_SPAN(read_ns, "TIME"), .low = SHORTEST_S, .standard = "30s",
     .about = "for the first byte of an answer, and between two of its bytes"},
    {"--total-timeout", OPTION_SPAN(total_ns, "TIME"), .low = SHORTEST_S, .standard = "2m",
     .about = "for one attempt"},
    {"--max-wait", OPTION_SPAN(max_wait_ns, "TIME"),
     .about = "when a server asks for a longer wait, defer the requests concerned"},

    {"--retries", OPTION_INT(retries, "N", 0, 999), .group = "Failure",
     .about = "at most so many times more, whatever fails and whatever the rules say; 0: once; a "
              "429 does not count (rules built in: 4 for a 5xx, else 2)"},
    {"--recovery", OPTION_MANY(recovery, "RULE"), .expects = "a rule such as 'download/5xx=defer'",
     .about = "a rule that comes before those built in, such as download/5xx/1-2=retry"},
    {"--mode", OPTION_WORD(mode, "strict", "graceful", "offline"), .standard = "graceful",
     .about = "strict: the first failure ends the batch; offline: nothing is sent"},

    {"-H,--header", OPTION_MANY(headers, "'N: V'"), .group = "HTTP", .hides = HIDES_HEADER,
     .expects = "a header such as 'Accept: */*'",
     .about = "with every request that has no such header of its own"},
    {"--request-id", OPTION_FLAG(request_id),
     .about = "send the id of each request as X-Request-Id"},
    {"-A,--user-agent", OPTION_TEXT(user_agent, "TEXT"), .about = "instead of flyball/VERSION"},
    {"--compressed", OPTION_FLAG(compressed),
     .about = "ask for compressed answers, and undo the compression"},
    {"--http1.1", OPTION_FLAG(http1), .about = "do not use HTTP/2"},
    {"--max-redirs", OPTION_INT(max_redirs, "N", 0, 1000), .standard = "10",
     .about = "follow so many redirects, each of which is paid for"},
    {"--max-filesize", OPTION_BYTES(max_filesize, "BYTES"), .standard = "64M",
     .about = "larger answers fail"},

    {"-x,--proxy", OPTION_TEXT(proxy, "URL"), .group = "Network",
     .expects = "the address of a proxy", .about = "send through this proxy, as curl does"},
    {"--noproxy", OPTION_TEXT(noproxy, "HOSTS"), .expects = "names of hosts",
     .about = "hosts that are reached without the proxy"},
    {"--proxy-user", OPTION_TEXT(proxy_user, "USER:PASSWORD"), .expects = "user:password",
     .hides = HIDES_PASSWORD, .about = "for the proxy"},
    {"--interface", OPTION_TEXT(interface, "NAME"), .expects = "the name of an interface",
     .about = "the interface or address to send from"},
    {"--resolve", OPTION_MANY(resolve, "HOST:PORT:ADDR"), .expects = "host:port:address",
     .about = "where a host is"},

    {"--cacert", OPTION_FILE(cacert, "FILE"), .group = "TLS", .about = "certificates to trust"},
    {"--capath", OPTION_FOLDER(capath, "DIR"), .about = "a folder of them"},
    {"-E,--cert", OPTION_FILE(cert, "FILE"), .about = "the certificate to show"},
    {"--key", OPTION_FILE(key, "FILE"), .about = "its key"},
    {"-k,--insecure", OPTION_FLAG(insecure), .about = "do not check certificates"},
    {0},
};
