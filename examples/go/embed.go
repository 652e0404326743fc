// SPDX-License-Identifier: MIT

// What examples/embed.c does, in Go: the same calls, the same answers.
//
//	CGO_CFLAGS="$(pkg-config --cflags flyball)" CGO_LDFLAGS="$(pkg-config --libs flyball)" \
//	    go run . [LIMIT]
//
// A whole service is better served by the proxy, once that is there.
package main

/*
#cgo LDFLAGS: -lflyball
#include <stdlib.h>
#include <flyball/flyball.h>
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"unsafe"
)

const (
	second = int64(1_000_000_000)
	never  = int64(C.FLY_NEVER)
	absent = C.int64_t(-1 << 63) // FLY_ABSENT: not told by the response
)

// Limiter is one key's accountant; any goroutine may use it.
type Limiter struct{ raw *C.struct_fly_limiter }

// NewLimiter makes one under the limits of spec; "" means that nothing is known.
func NewLimiter(spec string, nowNs int64, seed uint64) (*Limiter, error) {
	var mistake C.struct_fly_error
	text := C.CString(spec)
	defer C.free(unsafe.Pointer(text))
	raw := C.fly_limiter_new(text, C.int64_t(nowNs), C.uint64_t(seed), &mistake)
	if raw == nil {
		return nil, errors.New(C.GoString(&mistake.text[0]))
	}
	return &Limiter{raw}, nil
}

// Close frees a limiter that nobody uses any more.
func (l *Limiter) Close() { C.fly_limiter_free(l.raw) }

// Take returns the instant at which a request may start; not above nowNs it is a grant.
func (l *Limiter) Take(nowNs int64, cost uint32) (atNs int64, ticket uint64) {
	var t C.uint64_t
	at := C.fly_limiter_take(l.raw, C.int64_t(nowNs), C.uint32_t(cost), &t)
	return int64(at), uint64(t)
}

// Report tells what came of a grant; retryAfterNs < 0: the response did not say.
func (l *Limiter) Report(nowNs, sentNs int64, ticket uint64, status int, retryAfterNs int64) {
	o := C.struct_fly_outcome{
		sent_ns: C.int64_t(sentNs), latency_ns: C.int64_t(nowNs - sentNs),
		limit: absent, remaining: absent, reset_ns: absent, retry_after_ns: absent,
		ticket: C.uint64_t(ticket), status: C.int32_t(status),
	}
	if retryAfterNs >= 0 {
		o.retry_after_ns = C.int64_t(retryAfterNs)
	}
	C.fly_limiter_report(l.raw, C.int64_t(nowNs), &o)
}

// Rate is the pace that is kept now, in permits a second.
func (l *Limiter) Rate() float64 { return float64(C.fly_limiter_rate(l.raw)) }

// Why says what a request would wait for.
func (l *Limiter) Why(nowNs int64) string {
	var why C.struct_fly_why
	why.size = C.uint64_t(unsafe.Sizeof(why))
	C.fly_limiter_why(l.raw, C.int64_t(nowNs), 1, &why)
	return C.GoString(&why.cause[0]) + ": " + C.GoString(&why.text[0])
}

// The fake API: 20 requests a second, 30 at once after a pause. The clock is virtual.
type api struct{ clockNs, spentUntilNs int64 }

func (a *api) call() (status int, retryAfterNs int64) {
	fromNs := a.spentUntilNs
	if a.clockNs > fromNs {
		fromNs = a.clockNs
	}
	status, retryAfterNs = 429, second
	if fromNs-a.clockNs < 30*(second/20) {
		a.spentUntilNs = fromNs + second/20
		status, retryAfterNs = 200, -1
	}
	a.clockNs += second / 40
	return status, retryAfterNs
}

// One request: wait for the permit, send, and tell what came of it. 0: nothing can start.
func sendOne(l *Limiter, a *api) int {
	atNs, ticket := l.Take(a.clockNs, 1)
	for atNs > a.clockNs {
		if atNs == never {
			return 0
		}
		a.clockNs = atNs
		atNs, ticket = l.Take(a.clockNs, 1)
	}
	sentNs := a.clockNs
	status, retryAfterNs := a.call()
	l.Report(a.clockNs, sentNs, ticket, status, retryAfterNs)
	return status
}

func main() {
	spec := ""
	if len(os.Args) > 1 {
		spec = os.Args[1]
	}
	var a api
	l, err := NewLimiter(spec, a.clockNs, 1)
	if err != nil {
		fmt.Fprintln(os.Stderr, "embed:", err)
		os.Exit(2)
	}
	defer l.Close()
	counts := map[int]int{}
	for a.clockNs < 600*second {
		status := sendOne(l, &a)
		if status == 0 {
			os.Exit(1)
		}
		counts[status]++
	}
	fmt.Printf("%d accepted, %d refused in %d s\n", counts[200], counts[429], a.clockNs/second)
	fmt.Printf("pace now %.2f/s\n%s\n", l.Rate(), l.Why(a.clockNs))
}
