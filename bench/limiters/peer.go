// SPDX-License-Identifier: MIT

// golang.org/x/time/rate for `make bench-peers`: the same lines as ours.c.
package main

import (
	"bufio"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const keys = 1000000

var (
	one   = newLimiter()
	names []string
	table sync.Map
)

func newLimiter() *rate.Limiter { return rate.NewLimiter(1e9, 1000000000) }

func takeKey(name string) {
	found, ok := table.Load(name)
	if !ok {
		found, _ = table.LoadOrStore(name, newLimiter())
	}
	found.(*rate.Limiter).Allow()
}

func beginKeys() {
	for i := 0; i < keys; i++ {
		names = append(names, fmt.Sprintf("token-%07d", i))
		takeKey(names[i])
	}
}

func takeOne(times int) {
	for i := 0; i < times; i++ {
		one.Allow()
	}
}

func takeKeys(times int) {
	chance := uint64(88172645463325252)
	for i := 0; i < times; i++ {
		chance ^= chance << 13
		chance ^= chance >> 7
		chance ^= chance << 17
		takeKey(names[(chance>>16)%keys])
	}
}

func main() {
	in := bufio.NewReader(os.Stdin)
	for {
		var name string
		var times int
		if n, _ := fmt.Fscan(in, &name, &times); n != 2 {
			return
		}
		work, threads := takeOne, 1
		if name == "two" {
			threads = 2
		}
		if name == "keys" {
			work = takeKeys
			if names == nil {
				beginKeys()
			}
		}
		var group sync.WaitGroup
		begin := time.Now()
		for i := 0; i < threads; i++ {
			group.Add(1)
			go func() { work(times); group.Done() }()
		}
		group.Wait()
		fmt.Printf("%.3f\n", float64(time.Since(begin).Nanoseconds())/float64(times))
	}
}
