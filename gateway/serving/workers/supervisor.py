"""The supervisor: binds the sockets, starts workers that share them, replaces those that die, and stops them all."""

import logging
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from gateway.backoff import exponential
from gateway.errors import ConfigurationError
from gateway.ops.metrics.merged import MergedMetrics
from gateway.serving.acceptor import bound
from gateway.serving.serve import configure_logging, finish_seconds, metrics_served
from gateway.serving.serve import serve as serve_alone
from gateway.serving.signals import on_ending_signals
from gateway.serving.workers.shared_log import SharedLog
from gateway.serving.workers.worker import Channel
from gateway.settings import Settings, environment_without, settings_values

_log = logging.getLogger("gateway.serving.workers")

# with our own module path, whichever command started us
_COMMAND = (
    *(sys.executable, "-c"),
    "import sys; sys.path[:] = sys.argv[2:]; from gateway.serving.workers.worker import main; main(int(sys.argv[1]))",
)
_REPORT_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Rules:
    grace_seconds: float  # from the first signal; then workers are killed
    steady_seconds: float = 10.0  # a worker that ends sooner has ended early
    attempts: int = 6  # after this many early ends in a row, and with no steady worker left, the supervisor gives up
    first_pause: float = 0.5  # before another worker is started, doubled with each early end
    longest_pause: float = 15.0

    def pause(self, early: int) -> float:
        return exponential(early - 1, self.first_pause, self.longest_pause)


def serve(settings: Settings) -> int:
    """Serves in as many processes as the settings say, until it is stopped; returns the exit code."""
    if settings.workers == 1:
        serve_alone(settings)
        return 0
    configure_logging(settings.log_level, SharedLog(sys.stdout.fileno()))
    # longer than drain and requests may take, and shorter than the extra ten seconds that Terraform gives a task
    rules = Rules(settings.drain_timeout_seconds + finish_seconds(settings) + 5)
    with bound("port", settings.host, settings.port) as sockets:
        supervisor = Supervisor(settings.workers, sockets, settings_values(settings), rules)
        with metrics_served(settings, supervisor.registry):
            return supervisor.run()


@dataclass(eq=False, slots=True)
class _Worker:
    process: subprocess.Popen[bytes]
    channel: Channel
    serving_since: float | None = None
    faults: list[str] = field(default_factory=list)
    reports: int = 0
    following: threading.Thread | None = None


class Supervisor:
    """Everything except reading messages of workers happens in the thread that runs it, one event after another."""

    def __init__(
        self,
        count: int,
        sockets: Sequence[socket.socket],
        settings: dict[str, Any],
        rules: Rules,
        command: Sequence[str] = _COMMAND,
    ) -> None:
        self._count = count
        self._sockets = sockets
        self._settings = settings
        self._rules = rules
        self._command = command
        self._events: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._workers: list[_Worker] = []
        self._metrics = MergedMetrics()
        self._reported = threading.Condition()
        self._served = self._finishing = self._killed = False
        self._kill_at: float | None = None
        self._start_at = 0.0
        self._early = self._restarts = self._code = 0
        self.registry = CollectorRegistry()
        self.registry.register(_Figures(self._asked_metrics, lambda: self._serving, lambda: self._restarts))

    def run(self) -> int:
        with on_ending_signals(lambda number, count: self._events.put(partial(self._signalled, number))):
            try:
                self._fill()
                while self._workers or self._kill_at is None:
                    self._next()
            finally:
                # INVARIANT: no worker outlives us; when we are killed, each sees its channel close
                self._kill()
                self._let_go()
        return self._code

    @property
    def _serving(self) -> int:
        return sum(worker.serving_since is not None for worker in list(self._workers))

    def _next(self) -> None:
        until = None if self._killed else self._kill_at
        if self._kill_at is None and len(self._workers) < self._target_count:
            until = self._start_at
        try:
            self._events.get(timeout=None if until is None else max(0.0, until - time.monotonic()))()
        except Empty:
            if self._kill_at is not None:
                _log.error("workers did not end in time and are killed", extra={"fields": {"workers": self._pids}})
                self._code = 1
                self._kill()
        self._fill()

    @property
    def _pids(self) -> list[int]:
        return [worker.process.pid for worker in self._workers]

    @property
    def _target_count(self) -> int:
        # the first worker shows whether they can start, so that its faults are reported once
        return self._count if self._serving else 1

    def _fill(self) -> None:
        while self._kill_at is None and len(self._workers) < self._target_count and time.monotonic() >= self._start_at:
            try:
                self._start()
            except OSError as error:
                _log.error("a worker cannot be started: %s", error.strerror)
                self._ended_early(1)

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        numbers = [listener.fileno() for listener in self._sockets]
        channel = Channel(ours)
        with theirs:
            try:
                process = subprocess.Popen(  # noqa: S603  # our own
                    [*self._command, str(theirs.fileno()), *sys.path],
                    stdin=subprocess.DEVNULL,
                    pass_fds=(theirs.fileno(), *numbers),
                    env=environment_without(),  # the channel delivers the settings that we have read
                    process_group=0,  # Ctrl-C in a terminal reaches only the supervisor
                )
            except OSError:
                channel.close()
                raise
        worker = _Worker(process, channel)
        self._workers.append(worker)
        worker.following = threading.Thread(target=self._follow, args=(worker, numbers), daemon=True)
        worker.following.start()

    def _follow(self, worker: _Worker, sockets: list[int]) -> None:
        """Runs in its own thread for as long as the worker lives."""
        worker.channel.send({"settings": self._settings, "sockets": sockets})
        while (message := worker.channel.receive()) is not None:
            if "report" in message:
                self._metrics.update(worker.process.pid, message["report"])
                with self._reported:
                    worker.reports += 1
                    self._reported.notify_all()
            elif "serving" in message:
                self._events.put(partial(self._started, worker))
            else:
                worker.faults = message["faults"]
        worker.process.wait()
        self._events.put(partial(self._ended, worker))

    def _started(self, worker: _Worker) -> None:
        self._served = True
        worker.serving_since = time.monotonic()
        _log.info("worker %d serves", worker.process.pid, extra={"fields": {"worker": worker.process.pid}})

    def _ended(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        self._metrics.end(worker.process.pid)
        worker.channel.close()
        with self._reported:
            self._reported.notify_all()
        code = worker.process.returncode
        if self._kill_at is not None:
            # a worker that was still starting had nothing to finish
            if worker.serving_since is not None and not self._killed:
                self._code = max(self._code, _exit_code(code))
            return
        how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        if not self._served:
            self._cannot_start(worker, how)
            return
        fields = {"worker": worker.process.pid, "faults": worker.faults}
        _log.warning("worker %d ended %s", worker.process.pid, how, extra={"fields": fields})
        self._restarts += 1
        if self._is_steady(worker):
            self._early = 0
        else:
            self._ended_early(_exit_code(code))

    def _cannot_start(self, first: _Worker, how: str) -> None:
        """Exits as a single process would; whatever started us decides whether to try again."""
        if first.faults:
            raise ConfigurationError(first.faults)
        _log.error("the first worker ended %s before it served; the gateway stops", how)
        self._code = _exit_code(first.process.returncode) or 1
        self._stop(signal.SIGTERM)

    def _is_steady(self, worker: _Worker) -> bool:
        since = worker.serving_since
        return since is not None and time.monotonic() - since >= self._rules.steady_seconds

    def _ended_early(self, code: int) -> None:
        self._early += 1
        self._start_at = time.monotonic() + self._rules.pause(self._early)
        if self._early >= self._rules.attempts and not any(map(self._is_steady, self._workers)):
            _log.error("%d workers in a row ended soon after their start; the gateway stops", self._early)
            self._code = code or 1
            self._stop(signal.SIGTERM)

    def _signalled(self, number: int) -> None:
        if self._finishing:
            self._code = _exit_code(-number)
            self._kill()
            return
        self._finishing = self._kill_at is not None or number == signal.SIGINT
        self._stop(number)

    def _stop(self, number: int) -> None:
        if self._kill_at is None:
            self._kill_at = time.monotonic() + self._rules.grace_seconds
            # once the workers accept no more connections, nothing listens
            for listener in self._sockets:
                listener.close()
        for worker in self._workers:
            if worker.serving_since is None:
                worker.channel.hang_up()
            else:
                worker.process.send_signal(number)

    def _kill(self) -> None:
        self._killed = True
        for worker in self._workers:
            worker.process.kill()
        for worker in self._workers:
            worker.process.wait()

    def _let_go(self) -> None:
        for worker in self._workers:
            if worker.following is not None:
                worker.following.join()
            worker.channel.close()

    def _asked_metrics(self) -> Iterator[Metric]:
        """Runs in the thread that reads the metrics. A worker that does not answer in time counts with its last
        report."""
        reports = {worker: worker.reports for worker in list(self._workers) if worker.serving_since is not None}
        for worker in reports:
            worker.channel.poke()

        def answered() -> bool:
            return all(worker.reports > before or worker not in self._workers for worker, before in reports.items())

        with self._reported:
            self._reported.wait_for(answered, _REPORT_SECONDS)
        return self._metrics.collect()


@dataclass(frozen=True, slots=True)
class _Figures(Collector):
    """The workers' metrics, and the supervisor's own."""

    metrics: Callable[[], Iterator[Metric]]
    serving: Callable[[], int]
    restarts: Callable[[], int]

    def collect(self) -> Iterator[Metric]:
        yield from self.metrics()
        yield GaugeMetricFamily("gateway_workers", "Worker processes that serve.", self.serving())
        yield CounterMetricFamily("gateway_worker_restarts", "Workers that ended unexpectedly.", self.restarts())


def _exit_code(code: int) -> int:
    """The exit code as a shell reports it."""
    return 128 - code if code < 0 else code
