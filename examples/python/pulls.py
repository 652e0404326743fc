# SPDX-License-Identifier: MIT
"""pulls.py - take in pull requests of a repository: several calls for each, five at a time.

    python3 pulls.py URL [COUNT [FIRST]]     URL: https://api.github.com/repos/OWNER/NAME, or a mock

    build/flyball mock --listen 127.0.0.1:8080 --limit fixed=1200/1m --dialect github &
    python3 examples/python/pulls.py http://127.0.0.1:8080/repos/o/r 30

How many pull requests are worked on at a time says nothing about how many requests leave: one
limiter stands before every single call, so that five times four calls are no burst. What each
answer tells of the quota goes back to it, which spends what is left evenly until the reset. A
refusal holds all of them, and the call that was refused is made again.
"""
import asyncio
import json
import os
import sys
import time
import urllib.error
import urllib.request

import flyball

AT_A_TIME = 5
PARTS = {'pull': '', 'files': '/files', 'commits': '/commits', 'reviews': '/reviews'}


def fetch(url):
    """(status, headers, body) of one request."""
    token = os.environ.get('GITHUB_TOKEN')
    headers = {'Authorization': f'Bearer {token}'} if token else {}
    request = urllib.request.Request(url, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as answer:
        return answer.code, answer.headers, answer.read()


def note(grant, status, headers):
    """What an answer says about the limit."""
    grant.status = status
    grant.retry_after = headers.get('Retry-After')
    grant.limit = headers.get('X-RateLimit-Limit')
    grant.remaining = headers.get('X-RateLimit-Remaining')
    reset = headers.get('X-RateLimit-Reset')
    grant.reset = max(0, float(reset) - time.time()) if reset else None
    grant.throttled = status == 429 or (status == 403 and grant.remaining == '0')


class Source:
    def __init__(self):
        self.limiter = flyball.Limiter()
        self.calls = self.refused = 0

    async def get(self, url):
        """One call, again for as long as it is refused for rate."""
        while True:
            async with self.limiter.take() as grant:
                status, headers, body = await asyncio.to_thread(fetch, url)
                note(grant, status, headers)
            self.calls += 1
            if not grant.throttled:
                break
            self.refused += 1
        if status != 200:
            raise RuntimeError(f'{url}: {status}')
        return json.loads(body)

    async def pull(self, url, number, places):
        async with places:
            return {name: await self.get(f'{url}/pulls/{number}{path}')
                    for name, path in PARTS.items()}


async def main(url, count='30', first='1'):
    source, places = Source(), asyncio.Semaphore(AT_A_TIME)
    numbers = range(int(first), int(first) + int(count))
    pulls = await asyncio.gather(*[source.pull(url, n, places) for n in numbers])
    complete = sum(set(pull) == set(PARTS) for pull in pulls)
    print(f'{complete} pull requests in {source.calls} calls, {source.refused} refused')
    print(source.limiter.why()[2])


if __name__ == '__main__':
    if not 2 <= len(sys.argv) <= 4:
        sys.exit(__doc__)
    asyncio.run(main(*sys.argv[1:]))
