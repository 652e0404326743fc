# SPDX-License-Identifier: MIT
"""flyball - libflyball from Python, without a compiler: as fast as the API allows, and no faster.

    limiter = flyball.Limiter()                   # nobody knows the limit: it is found
    with limiter.wait() as grant:                 # threads: blocks, first come, first served
        answer = requests.get(url)
        grant.status = answer.status_code         # reported when the block ends
        grant.retry_after = answer.headers.get('Retry-After')

    async with limiter.take() as grant:           # asyncio: the loop goes on meanwhile
        ...

    limiter = flyball.Limiter('rate=10/s', ledger='/run/me/ledger', key=('api.example.com',))
                                                  # one budget with every process that says the same

The library is found as $FLYBALL_LIBRARY, else as libflyball.so.0 where the system looks, else in
build/ of the tree that this file is in. A whole service is better served by the proxy, once that is
there; this is for programs of their own.
"""
import asyncio
import ctypes
import errno
import os
import random

NEVER = 2**63 - 1    # only a report can unblock
ABSENT = -(2**63)    # not told by the response
THROTTLED = 1
SECOND = 1_000_000_000


class Error(ctypes.Structure):
    _fields_ = [('text', ctypes.c_char * 256)]


class Outcome(ctypes.Structure):
    _fields_ = [('sent_ns', ctypes.c_int64), ('latency_ns', ctypes.c_int64),
                ('limit', ctypes.c_int64), ('remaining', ctypes.c_int64),
                ('reset_ns', ctypes.c_int64), ('retry_after_ns', ctypes.c_int64),
                ('ticket', ctypes.c_uint64), ('status', ctypes.c_int32),
                ('flags', ctypes.c_uint32)]


class Key(ctypes.Structure):
    _fields_ = [(name, ctypes.c_char_p) for name in ('provider', 'pool', 'credential')]


class Why(ctypes.Structure):
    _fields_ = [('size', ctypes.c_uint64), ('until_ns', ctypes.c_int64),
                ('cause', ctypes.c_char * 24), ('text', ctypes.c_char * 256)]


def _open():
    if 'FLYBALL_LIBRARY' in os.environ:
        return ctypes.CDLL(os.environ['FLYBALL_LIBRARY'])
    try:
        return ctypes.CDLL('libflyball.so.0')
    except OSError as absent:
        built = os.path.join(os.path.dirname(__file__), '../../build/libflyball.so')
        if not os.path.exists(built):
            raise ImportError('no libflyball.so.0: make install and ldconfig, or say where it is '
                              'in $FLYBALL_LIBRARY') from absent
        return ctypes.CDLL(built)


def _load():
    library = _open()
    limiter, i64, u32, u64 = ctypes.c_void_p, ctypes.c_int64, ctypes.c_uint32, ctypes.c_uint64
    at = ctypes.POINTER
    for name, result, *arguments in [
            ('fly_version', ctypes.c_char_p),
            ('fly_now', i64),
            ('fly_limiter_new', limiter, ctypes.c_char_p, i64, u64, at(Error)),
            ('fly_limiter_free', None, limiter),
            ('fly_ledger_open', ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p,
             at(ctypes.c_void_p), at(Error)),
            ('fly_ledger_close', None, ctypes.c_void_p),
            ('fly_ledger_limiter', ctypes.c_int, ctypes.c_void_p, at(Key), ctypes.c_char_p,
             at(limiter), at(Error)),
            ('fly_limiter_take', i64, limiter, i64, u32, at(u64)),
            ('fly_limiter_cancel', None, limiter, i64, u64),
            ('fly_limiter_settle', None, limiter, i64, u64, u32),
            ('fly_limiter_report', None, limiter, i64, at(Outcome)),
            ('fly_limiter_why', ctypes.c_int, limiter, i64, u32, at(Why)),
            ('fly_limiter_rate', ctypes.c_double, limiter),
            ('fly_limiter_save', ctypes.c_int, limiter, i64, ctypes.c_char_p, ctypes.c_size_t),
            ('fly_limiter_load', ctypes.c_int, limiter, i64, i64, ctypes.c_char_p,
             ctypes.c_size_t, at(Error)),
            ('fly_wait', ctypes.c_int, limiter, u32, i64, ctypes.c_void_p, at(i64), at(u64))]:
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


_lib = _load()


def version():
    return _lib.fly_version().decode()


def now():
    """Nanoseconds on the clock of the library, which wait() and take() use."""
    return _lib.fly_now()


class Grant:
    """A request that may start now. As a context it reports itself, whatever happens inside."""

    def __init__(self, limiter, ticket, sent_ns):
        self.limiter, self.ticket, self.sent_ns = limiter, ticket, sent_ns
        self.status = 0         # HTTP status; 0: no answer came
        self.retry_after = None  # seconds
        self.limit = self.remaining = self.reset = None  # told; the reset in seconds from now
        self.throttled = False  # a refusal for rate, whatever the status

    def report(self):
        at_ns = self.limiter.clock()
        outcome = Outcome(self.sent_ns, at_ns - self.sent_ns, _told(self.limit),
                          _told(self.remaining),
                          ABSENT if self.reset is None else at_ns + _span(self.reset),
                          ABSENT if self.retry_after is None else _span(self.retry_after),
                          self.ticket, self.status, THROTTLED if self.throttled else 0)
        self.limiter.report(at_ns, outcome)

    def cancel(self):
        """It was never sent: the permit goes back."""
        self.limiter.cancel(self.ticket)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.report()


def _told(value):
    return ABSENT if value is None else int(value)


def _span(seconds):
    return int(float(seconds) * SECOND)


class _Take:
    """What take() returns: await it for a grant, or enter it with `async with`."""

    def __init__(self, coroutine):
        self.coroutine = coroutine

    def __await__(self):
        return self.coroutine.__await__()

    async def __aenter__(self):
        self.grant = await self.coroutine
        return self.grant

    async def __aexit__(self, *_):
        self.grant.report()


class Ledger:
    """A file through which all processes of this user spend one budget per key; no path: theirs."""

    def __init__(self, path=None):
        error, self._ledger = Error(), ctypes.c_void_p()
        path = None if path is None else os.fsencode(path)
        _check(_lib.fly_ledger_open(path, None, self._ledger, error), error)

    def limiter(self, spec, key):
        error, made = Error(), ctypes.c_void_p()
        key = Key(*(part.encode() for part in key))
        _check(_lib.fly_ledger_limiter(self._ledger, key, spec.encode(), made, error), error)
        return made.value

    def __del__(self):  # every limiter keeps its ledger, so they are gone by now
        _lib.fly_ledger_close(self._ledger)


def _check(result, error):
    if result == -errno.EINVAL:
        raise ValueError(error.text.decode())
    if result < 0:
        raise OSError(-result, error.text.decode())


class Limiter:
    """One key's accountant. Any thread may use it; one event loop at a time may take().

    `ledger`, a path or a Ledger, makes it the one that every process has under this key: provider,
    pool and credential, of which the last ones may be missing. Its clock is now() and no other.
    """

    def __init__(self, spec='', clock=now, seed=None, ledger=None, key=()):
        self.clock = clock
        self._loop = self._turn = self._changed = None  # the event loop that takes, and its own
        if ledger is not None:
            self._ledger = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
            self._l = self._ledger.limiter(spec, key)
            return
        error = Error()
        seed = random.getrandbits(64) if seed is None else seed
        self._l = _lib.fly_limiter_new(spec.encode(), clock(), seed, error)
        if not self._l:
            raise ValueError(error.text.decode())

    def close(self):
        limiter, self._l = self._l, None
        _lib.fly_limiter_free(limiter)
        self._ledger = None

    def __del__(self):
        if getattr(self, '_l', None):
            self.close()

    def try_take(self, cost=1):
        """(grant, None) when a request may start now, else (None, when to ask again)."""
        ticket, now_ns = ctypes.c_uint64(), self.clock()
        at_ns = _lib.fly_limiter_take(self._l, now_ns, cost, ticket)
        return (Grant(self, ticket.value, now_ns), None) if at_ns <= now_ns else (None, at_ns)

    def wait(self, cost=1, timeout=None):
        """Block until a request may start. TimeoutError says so as soon as that is known."""
        ticket, at_ns = ctypes.c_uint64(), ctypes.c_int64()
        until_ns = NEVER if timeout is None else self.clock() + _span(timeout)
        error = _lib.fly_wait(self._l, cost, until_ns, None, at_ns, ticket)
        if error == -errno.ETIMEDOUT:
            raise TimeoutError(self.why(cost)[2])
        if error:
            raise OSError(-error, os.strerror(-error))
        return Grant(self, ticket.value, at_ns.value)

    def take(self, cost=1):
        """`await limiter.take()` or `async with limiter.take() as grant`; in order."""
        return _Take(self._take(cost))

    async def _take(self, cost):
        loop = asyncio.get_running_loop()
        if self._loop is not loop:  # the first one, or the one after a loop that has ended
            self._loop, self._turn, self._changed = loop, asyncio.Lock(), asyncio.Event()
        async with self._turn:
            while True:
                self._changed.clear()
                grant, at_ns = self.try_take(cost)
                if grant:
                    return grant
                await self._sleep_until(at_ns)

    async def _sleep_until(self, at_ns):
        seconds = None if at_ns == NEVER else max(0, at_ns - self.clock()) / SECOND
        try:
            await asyncio.wait_for(self._changed.wait(), seconds)
        except asyncio.TimeoutError:
            pass

    def _wake(self):
        try:
            if self._loop:
                self._loop.call_soon_threadsafe(self._changed.set)
        except RuntimeError:
            pass  # that loop is closed: nobody waits in it

    def report(self, at_ns, outcome):
        _lib.fly_limiter_report(self._l, at_ns, outcome)
        self._wake()

    def cancel(self, ticket):
        _lib.fly_limiter_cancel(self._l, self.clock(), ticket)
        self._wake()

    def settle(self, grant, cost):
        """The true cost, where only the answer tells it; before the report."""
        _lib.fly_limiter_settle(self._l, self.clock(), grant.ticket, cost)

    def why(self, cost=1):
        """(until when, one word, one sentence)."""
        why = Why(ctypes.sizeof(Why))
        _lib.fly_limiter_why(self._l, self.clock(), cost, why)
        return why.until_ns, why.cause.decode(), why.text.decode()

    @property
    def rate(self):
        return _lib.fly_limiter_rate(self._l)

    def save(self):
        """What was learned, as bytes for load() in another process."""
        buffer = ctypes.create_string_buffer(2048)
        size = _lib.fly_limiter_save(self._l, self.clock(), buffer, len(buffer))
        if size < 0:
            raise OSError(-size, os.strerror(-size))
        return buffer.raw[:size]

    def load(self, state, seconds_ago=0):
        error = Error()
        if _lib.fly_limiter_load(self._l, self.clock(), _span(seconds_ago), state, len(state),
                                 error):
            raise ValueError(error.text.decode())
