"""Entry points LocalStack discovers, and the few adaptations of the engine itself.

Each adaptation names what it replaces and why; none makes the engine kinder than AWS.
"""

from __future__ import annotations

import logging
import os
from typing import Any

from localstack.runtime import hooks
from localstack.services.lambda_.invocation.plugins import RuntimeExecutorPlugin

LOG = logging.getLogger(__name__)

# CloudWatch evaluates an alarm every minute whatever its period
# (https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-evaluation.html); the engine waits a whole
# period between evaluations, five minutes for this project's queue alarms. Below 60 only the waiting gets shorter.
ALARM_EVALUATION_S = 10
# Factor on every alarm's period, as in the local engine: a proof that waits for an alarm to come back to OK would wait
# five minutes. The period never gets shorter than what holds a few readings of a queue.
ALARM_SCALE = float(os.environ.get("CESTA_ESCALA_ALARMES_LOCALSTACK", "0.1"))
ALARM_FLOOR_S = 30


class SubprocessExecutorPlugin(RuntimeExecutorPlugin):
    """``LAMBDA_RUNTIME_EXECUTOR=processo``."""

    name = "processo"

    def load(self, *args: Any, **kwargs: Any) -> type:
        from cesta_localstack.executor import SubprocessExecutor

        return SubprocessExecutor


@hooks.on_infra_start()
def adapt_engine() -> None:
    """Give the engine this machine's DynamoDB Local and Java, CloudWatch's way with alarms, routes of ours."""
    _use_local_dynamodb(os.environ["CESTA_DYNAMODB_LOCAL"], os.environ["CESTA_JAVA"])
    _evaluate_alarms_as_cloudwatch()
    _add_routes()


def _use_local_dynamodb(folder: str, java: str) -> None:
    """Start DynamoDB Local from ``folder`` with ``java``.

    The engine would download the jar, a Java and a byte-code agent (for more than 20 indexes a table) from the network.
    """
    from localstack.services.dynamodb import server

    def start_thread(self: server.DynamodbServer) -> Any:
        command = [
            java,
            f"-Xmx{self.heap_size}",
            f"-Djava.library.path={folder}/DynamoDBLocal_lib",
            "-jar",
            f"{folder}/DynamoDBLocal.jar",
            "-port",
            str(self.port),
            *(["-dbPath", self.db_path] if self.db_path else ["-inMemory"]),
        ]
        thread = server.ShellCommandThread(
            command,
            strip_color=True,
            log_listener=server._log_listener,
            auto_restart=True,
            name="dynamodb-local",
            env_vars={"DDB_LOCAL_TELEMETRY": "0"},
        )
        server.TMP_THREADS.append(thread)
        thread.start()
        return thread

    server.DynamodbServer.do_start_thread = start_thread


def _evaluate_alarms_as_cloudwatch() -> None:
    """Evaluate often, over scaled periods, and only as many of them as the alarm has.

    The engine counts breaches over two periods more than EvaluationPeriods, so an alarm over one period of five minutes
    stays in ALARM for fifteen after the cause is gone. CloudWatch looks back further only for periods without data.
    """
    from localstack.services.cloudwatch import alarm_scheduler

    class FrequentScheduler(alarm_scheduler.Scheduler):
        def schedule(self, func: Any, period: float | None = None, **kwargs: Any) -> Any:
            return super().schedule(func, period=min(period or ALARM_EVALUATION_S, ALARM_EVALUATION_S), **kwargs)

    collect = alarm_scheduler.collect_metric_data

    def most_recent(alarm: Any, client: Any) -> list[float | None]:
        scaled = {**alarm, "Period": max(ALARM_FLOOR_S, int(alarm["Period"] * ALARM_SCALE))}
        wanted = alarm["EvaluationPeriods"]
        values = [value for value in collect(scaled, client) if value is not None]
        return values[-wanted:] or [None] * wanted

    alarm_scheduler.Scheduler = FrequentScheduler
    alarm_scheduler.collect_metric_data = most_recent


def _add_routes() -> None:
    """Function URLs by path: ``/_cesta/funcao/{function name}/{path}``.

    The engine routes function URLs by host name (``<id>.lambda-url.<region>.…``), which resolves only through a public
    wildcard DNS record; a machine without it could not call its own function.
    """
    from localstack.http import Response
    from localstack.services.edge import ROUTER

    from cesta_localstack.function_url import by_path

    methods = ["GET", "POST", "PUT", "PATCH", "DELETE"]
    # Whoever starts the engine asks here whether the plugin is in place.
    ROUTER.add("/_cesta/pronto", endpoint=lambda request: Response("{}", mimetype="application/json"))
    ROUTER.add("/_cesta/funcao/<name>", endpoint=by_path, methods=methods, defaults={"path": ""})
    ROUTER.add("/_cesta/funcao/<name>/<path:path>", endpoint=by_path, methods=methods)
