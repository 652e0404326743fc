# SPDX-License-Identifier: MIT
"""embed.py - what examples/embed.c does, in Python: the same calls, the same answers.

    python3 embed.py [LIMIT]

The API is a class in this file and the clock is virtual, so ten minutes pass at once.
"""
import sys

import flyball
from flyball import NEVER, SECOND


class Api:
    """20 requests a second, 30 at once after a pause; a refusal says when to come back."""

    def __init__(self):
        self.clock_ns = self.spent_until_ns = 0

    def call(self):
        from_ns = max(self.spent_until_ns, self.clock_ns)
        accepted = from_ns - self.clock_ns < 30 * (SECOND // 20)
        if accepted:
            self.spent_until_ns = from_ns + SECOND // 20
        self.clock_ns += SECOND // 40
        return (200, None) if accepted else (429, 1)


def send_one(limiter, api):
    """One request: wait for the permit, send, and tell what came of it. Returns the status."""
    grant, at_ns = limiter.try_take()
    while not grant:
        if at_ns == NEVER:
            return 0  # only a report could unblock it, and nothing is out
        api.clock_ns = at_ns
        grant, at_ns = limiter.try_take()
    with grant:
        grant.status, grant.retry_after = api.call()
    return grant.status


def main(spec=''):
    api = Api()
    limiter = flyball.Limiter(spec, clock=lambda: api.clock_ns, seed=1)
    counts = {200: 0, 429: 0}
    while api.clock_ns < 600 * SECOND:
        status = send_one(limiter, api)
        if status == 0:
            return 1
        counts[status] += 1
    print(f'{counts[200]} accepted, {counts[429]} refused in {api.clock_ns // SECOND} s')
    print(f'pace now {limiter.rate:.2f}/s')
    _, cause, text = limiter.why()
    print(f'{cause}: {text}')
    return 0


if __name__ == '__main__':
    try:
        sys.exit(main(*sys.argv[1:]))
    except ValueError as mistake:
        print(f'embed: {mistake}', file=sys.stderr)
        sys.exit(2)
