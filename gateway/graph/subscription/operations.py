"""Runs operations on a persistent connection: subscriptions, and queries and mutations as over HTTP."""

import asyncio
from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import Any

from gateway.aws.sts.callers import LastingCaller
from gateway.graph.http.consistency import add_consistency, sent_token
from gateway.graph.http.endpoint import SUBSCRIPTION, SUPPORT, Endpoint, support_notice
from gateway.graph.http.log_lines import RequestLog
from gateway.graph.http.request import JSON, GraphQLRequest
from gateway.graph.http.responses import HttpResponse, failed
from gateway.graph.http.running import DISCONNECT, RunningRequest
from gateway.graph.subscription.event_reader import WatchOperation
from gateway.graph.subscription.subscription import Subscription
from gateway.graph.subscription.subscriptions import Subscriptions, watched_root

AFTER = "after"  # the member of `extensions` that holds the position of the last event


@dataclass(frozen=True, slots=True)
class Operations:
    endpoint: Endpoint
    subscriptions: Subscriptions

    async def begin(
        self,
        lasting: LastingCaller,
        request: GraphQLRequest,
        log: RequestLog,
        *,
        method: str = "POST",
        after: object = None,
        scope: MutableMapping[str, Any] | None = None,
    ) -> Subscription | HttpResponse:
        """The started subscription, or a GraphQL response; failures are responses too and are logged like those of a
        request.

        `scope` receives the callback that is called if the caller disconnects meanwhile.
        """
        running = self.endpoint.running.begin(self.endpoint.limits.seconds)
        scope = {} if scope is None else scope
        scope[DISCONNECT] = running.disconnected
        try:
            result = await self._begin(lasting, request, log, running, method, after)
        except asyncio.CancelledError:
            reason = running.take_cancellation()
            if reason is None:
                raise
            result = failed(reason, log, JSON)
        except Exception as error:
            result = failed(error, log, JSON)
        finally:
            del scope[DISCONNECT]
            self.endpoint.running.finish(running)
        if isinstance(result, HttpResponse):
            self._finish(result, lasting, log)
        return result

    async def _begin(
        self,
        lasting: LastingCaller,
        request: GraphQLRequest,
        log: RequestLog,
        running: RunningRequest,
        method: str,
        after: object,
    ) -> Subscription | HttpResponse:
        caller = log.caller = await lasting.caller()
        log.principal = caller.principal
        prepared = await self.endpoint.prepared(request, log, running, method)
        if isinstance(prepared, HttpResponse):
            return prepared
        reference, admitted = prepared
        if admitted.operation.kind != SUBSCRIPTION:
            token = sent_token({}, request)
            return await self.endpoint.run(reference, admitted, request, log, running, JSON, token)
        after = request.extensions.get(AFTER, after)
        # a subscription may stay for days: of what the client has sent, only the variables of its operation are kept
        declared = {definition.variable.name.value for definition in admitted.operation.node.variable_definitions or ()}
        request.variables = {name: value for name, value in request.variables.items() if name in declared}
        request.query, request.extensions = None, {}
        operation = WatchOperation(watched_root(admitted), admitted, request, reference, log.request_id, log.trace_id)
        running.cancel_on_disconnect()
        return await self.subscriptions.open(operation, lasting, caller, after)

    def _finish(self, answer: HttpResponse, lasting: LastingCaller, log: RequestLog) -> None:
        access, principal = log.access, lasting.principal
        if access is not None and (access.wrote or access.lagging):
            add_consistency(answer, access, self.endpoint.tokens)
        if principal.support is not None:
            answer.content.setdefault("extensions", {})[SUPPORT] = support_notice(principal, principal.support)
        codes = answer.codes
        log.write(answer.status, codes, self.endpoint.write)
        self.endpoint.observe(log, codes)
