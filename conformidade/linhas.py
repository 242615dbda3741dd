"""The behaviours the design rests on: what AWS does, where AWS says so, and which tests of ours would go red.

What each engine was seen to do is not here: it is read from ``docs/fidelity/<alvo>.json``, written by the probes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

AWS = "https://docs.aws.amazon.com/"
SFN = AWS + "step-functions/latest/"
LAMBDA = AWS + "lambda/latest/dg/"
SQS = AWS + "AWSSimpleQueueService/latest/SQSDeveloperGuide/"
DDB = AWS + "amazondynamodb/latest/developerguide/"
CW = AWS + "AmazonCloudWatch/latest/monitoring/"

ASL = "tests/asl/test_structure.py"
FAULTS = "tests/asl/test_single_faults.py"
DEPARTURES = "tests/asl/test_departures.py"
STREAMS = "tests/models/test_mapeamento_streams.py"
QUEUE = "tests/models/test_mapeamento_sqs.py"
POLICIES = "tests/infra/test_politicas.py"
WATCH = "tests/infra/test_vigilancia.py"
PLAN = "tests/infra/test_terraform.py::test_terraform_tests_pass"
START = "tests/unit/test_pedidos_saga.py"
PROVAS = "tests/unit/provas/test_provas_assinatura.py"


@dataclass(frozen=True)
class Linha:
    """One row of the table.

    Attributes
    ----------
    sonda: name of the probe that looks at it.
    comportamento: what happens, in a few words.
    na_aws: what the probe answers on AWS according to its documentation.
    fonte: the page of AWS's documentation that says so.
    modelo: tests that show our code against a model of AWS, in process.
    estatico: tests that read the definition (state machine, plan, policies) without running it.
    depende: why the design cares.
    notas: by target, what of ours stands behind what was seen there: the engine alone would not do it, or not so.
    """

    sonda: str
    comportamento: str
    na_aws: str
    fonte: str
    depende: str
    modelo: tuple[str, ...] = ()
    estatico: tuple[str, ...] = ()
    notas: Mapping[str, str] = field(default_factory=dict)


LINHAS: tuple[Linha, ...] = (
    # --- StartExecution ---
    Linha(
        "sfn.start.same_input_running",
        "StartExecution again, same name and input, still running",
        "200, same ARN",
        SFN + "apireference/API_StartExecution.html",
        "a repeated message never starts a second saga",
        (f"{START}::test_duplicates_in_any_spelling_are_success",),
    ),
    Linha(
        "sfn.start.other_input_running",
        "StartExecution again, same name and another input",
        "ExecutionAlreadyExists",
        SFN + "apireference/API_StartExecution.html",
        "the same id with other content is a conflict, not a duplicate",
        (f"{START}::test_same_id_with_other_content_fails_its_item_only",),
    ),
    Linha(
        "sfn.start.after_closed",
        "StartExecution again after the execution closed",
        "ExecutionAlreadyExists",
        SFN + "apireference/API_StartExecution.html",
        "the starter reads the stored input to tell a duplicate from a conflict",
        (f"{START}::test_already_exists_is_a_duplicate_only_if_the_stored_input_is_this_order",),
    ),
    # --- error names ---
    Linha(
        "sfn.error.class_name",
        "a function's exception is caught by its class name",
        "CartaoRecusadoError",
        SFN + "dg/concepts-error-handling.html",
        "the error names are the contract between the code and the state machine",
        (f"{FAULTS}::test_single_fault",),
        (f"{ASL}::test_every_named_error_is_a_class_somebody_raises",),
        notas={
            "local": "by AWS's runtime client, in a bootstrap of ours",
            "localstack": "by AWS's runtime client, in an executor of ours",
        },
    ),
    Linha(
        "sfn.error.subclass",
        "a subclass of a named error",
        "does not match its parent's name",
        SFN + "dg/concepts-error-handling.html",
        "every concrete class is listed",
        (),
        (f"{ASL}::test_every_concrete_class_is_named_or_meant_for_states_all",),
        notas={
            "local": "by AWS's runtime client, in a bootstrap of ours",
            "localstack": "by AWS's runtime client, in an executor of ours",
        },
    ),
    Linha(
        "sfn.error.function_timeout",
        "a function killed by its own timeout",
        "Sandbox.Timedout",
        SFN + "dg/concepts-error-handling.html",
        "an unknown outcome: compensated, never taken for a refusal",
        (f"{DEPARTURES}::TestOurs::test_holds", f"{FAULTS}::test_single_fault"),
        notas={
            "local": "by AWS's runtime client, in a bootstrap of ours",
            "localstack": "by AWS's runtime client, in an executor of ours",
        },
    ),
    Linha(
        "sfn.error.function_exit",
        "a function whose process dies",
        "Runtime.ExitError",
        LAMBDA + "troubleshooting-invocation.html",
        "an unknown outcome too",
        (
            f"{FAULTS}::test_single_fault",
            "tests/unit/test_localstack_runtime.py::test_exit_before_answering_is_exit_error",
        ),
        notas={
            "local": "by AWS's runtime client, in a bootstrap of ours",
            "localstack": "by AWS's runtime client, in an executor of ours",
        },
    ),
    Linha(
        "sfn.error.task_timeout",
        "TimeoutSeconds of a Task passes",
        "States.Timeout, caught only by its own name",
        SFN + "dg/concepts-error-handling.html",
        "States.TaskFailed does not cover it; the ceiling is above the function's own",
        (),
        (f"{ASL}::test_check[timeouts_too_short]", f"{ASL}::test_a_longer_function_timeout_is_noticed"),
    ),
    Linha(
        "sfn.error.condition",
        "a refused condition in a DynamoDB integration",
        "DynamoDB.ConditionalCheckFailedException",
        SFN + "dg/connect-ddb.html",
        "a confirmed order is not taken back to COMPENSANDO",
        (f"{FAULTS}::test_a_refused_condition_is_not_retried",),
        (f"{ASL}::test_check[catchers_out_of_order]",),
    ),
    # --- data ---
    Linha(
        "sfn.resultpath.task_and_catch",
        "ResultPath in a Task, in a Catch and in an integration",
        "input kept, error and result added",
        SFN + "dg/input-output-resultpath.html",
        "a compensation knows the order, the sku and the quantity",
        (f"{DEPARTURES}::TestOurs::test_holds",),
        (f"{ASL}::test_check[errors_read_but_never_written]",),
    ),
    Linha(
        "sfn.limit.payload_256k",
        "a Task result above 256 KiB",
        "States.DataLimitExceeded",
        SFN + "dg/service-quotas.html",
        "caught explicitly, before States.ALL",
        (f"{FAULTS}::test_single_fault",),
        (f"{ASL}::test_check[catchers_out_of_order]",),
    ),
    # --- retries ---
    Linha(
        "sfn.retry.max_attempts",
        "MaxAttempts counts the repetitions",
        "3 attempts for MaxAttempts 2",
        SFN + "dg/concepts-error-handling.html",
        "how long stock stays held before the compensation",
        (),
        (f"{ASL}::test_check[retries_differ]",),
    ),
    Linha(
        "sfn.retry.max_delay",
        "MaxDelaySeconds",
        "respected",
        SFN + "dg/concepts-error-handling.html",
        "the wait for an unavailable gateway has a ceiling",
        (),
        (f"{ASL}::test_check[retries_differ]",),
    ),
    Linha(
        "sfn.retry.jitter_full",
        "JitterStrategy FULL",
        "waits vary",
        SFN + "dg/concepts-error-handling.html",
        "orders that failed together do not come back together",
        (),
        (f"{ASL}::test_check[retries_differ]",),
    ),
    # --- operation of the machine ---
    Linha(
        "sfn.redrive",
        "RedriveExecution of a failed execution",
        "accepted",
        SFN + "dg/redrive-executions.html",
        "not used by the saga, whose failures end in a state: a person may still ask for it",
    ),
    Linha(
        "sfn.iam.machine_role",
        "the machine's role lacks lambda:InvokeFunction",
        "enforced",
        SFN + "dg/procedure-create-iam-role.html",
        "the machine invokes exactly what it orchestrates",
        (),
        (f"{POLICIES}::test_policies_are_exact", f"{POLICIES}::test_each_action_of_a_machine_missing_is_caught"),
    ),
    Linha(
        "sfn.logs.delivered",
        "execution events reach the log group",
        "delivered",
        SFN + "dg/cw-logs.html",
        "where an order stopped, after the history is gone",
        (),
        (PLAN,),
    ),
    Linha(
        "sfn.metrics",
        "AWS/States metrics by machine",
        "published",
        SFN + "dg/procedure-cw-metrics.html",
        "alarms on executions that failed or timed out",
        (),
        (f"{WATCH}::test_nothing_goes_unwatched",),
        notas={"local": "by the bridge of ours that feeds the engine"},
    ),
    # --- SQS to a function ---
    Linha(
        "sqs_mapping.partial_batch",
        "batchItemFailures of an SQS batch",
        "only the failed message returns",
        LAMBDA + "services-sqs-errorhandling.html",
        "a poison message does not hold back its batch",
        (
            f"{QUEUE}::test_what_the_mapping_reads_in_an_answer",
            f"{START}::test_poison_message_fails_alone_and_its_content_is_not_logged",
        ),
        (PLAN,),
    ),
    Linha(
        "sqs_mapping.redrive_to_dlq",
        "maxReceiveCount 2",
        "in the DLQ after 2 receives",
        SQS + "sqs-dead-letter-queues.html",
        "nothing loops for a day and vanishes",
        (f"{QUEUE}::test_sixth_receive_goes_to_the_dlq_instead",),
        (PLAN,),
    ),
    Linha(
        "sqs_mapping.filter",
        "FilterCriteria of an SQS mapping",
        "drops what does not match",
        LAMBDA + "invocation-eventfiltering.html",
        "none of the queues filters: what a filter drops is deleted unseen",
    ),
    # --- streams to a function ---
    Linha(
        "stream_mapping.partial_batch",
        "batchItemFailures of a stream batch",
        "comes back from the lowest failed record",
        LAMBDA + "services-ddb-batchfailurereporting.html",
        "records after the failed one are seen again: the consumer is idempotent",
        (f"{STREAMS}::test_r3_r7_tudo_a_partir_do_menor_volta_inclusive_os_que_deram_certo",),
        (PLAN,),
    ),
    Linha(
        "stream_mapping.attempts_then_destination",
        "MaximumRetryAttempts of a stream mapping",
        "destination after 3 attempts for MaximumRetryAttempts 2",
        LAMBDA + "services-dynamodb-errors.html",
        "a bad record does not block a shard for a day",
        (f"{STREAMS}::test_r8_depois_das_tentativas_o_shard_segue",),
        (PLAN,),
    ),
    Linha(
        "stream_mapping.destination_is_metadata",
        "what an SQS on-failure destination receives",
        "shard and sequence range only",
        LAMBDA + "services-dynamodb-errors.html",
        "reprocessing reads the stream, within 24 h",
        (
            f"{STREAMS}::test_r10_mensagem_so_tem_metadados",
            "tests/unit/test_painel_reprocesso.py::test_so_os_metadados_bastam_para_trazer_de_volta",
        ),
    ),
    Linha(
        "stream_mapping.others_go_on",
        "other orders of the shard after the attempts",
        "the shard goes on after the attempts",
        LAMBDA + "services-dynamodb-errors.html",
        "one bad order does not stop the store's panel",
        (
            f"{STREAMS}::test_r8_depois_das_tentativas_o_shard_segue",
            "tests/models/test_painel_propriedades.py::test_nada_se_perde_nada_se_repete",
        ),
    ),
    Linha(
        "stream_mapping.bisect",
        "BisectBatchOnFunctionError",
        "the batch is split down to the bad record",
        LAMBDA + "services-dynamodb-errors.html",
        "a crash loses one record to the destination, not a batch",
        (f"{STREAMS}::test_r6_invocacao_que_falha_e_partida_ao_meio_ate_isolar",),
        (PLAN,),
    ),
    Linha(
        "stream_mapping.filter",
        "FilterCriteria of a stream mapping",
        "drops what does not match",
        LAMBDA + "invocation-eventfiltering.html",
        "only changes of an item reach the consumer",
        ("tests/unit/test_painel_transicao.py::test_o_que_nao_interessa_e_ignorado",),
    ),
    Linha(
        "stream.no_record_for_no_change",
        "a write that changes nothing",
        "no record",
        DDB + "Streams.html",
        "a repeated status is not a transition",
        ("tests/unit/test_painel_transicao.py::test_o_que_nao_interessa_e_ignorado",),
    ),
    Linha(
        "stream.order_within_key",
        "records of one item",
        "as written",
        DDB + "Streams.html",
        "the transitions of one order are read in their order",
        (f"{STREAMS}::test_r1_r2_lotes_em_ordem", f"{STREAMS}::test_r12_paralelo_guarda_a_ordem_de_cada_pedido"),
    ),
    Linha(
        "stream.creation_time",
        "ApproximateCreationDateTime of a record",
        "within two seconds",
        DDB + "Streams.html",
        "the instant of a transition comes from the record, not from the consumer's clock",
        ("tests/models/test_painel_correcoes.py::test_em_nao_depende_do_relogio_do_processo",),
    ),
    # --- functions ---
    Linha(
        "iam.function_role",
        "a function's role lacks the action",
        "enforced",
        LAMBDA + "lambda-intro-execution-role.html",
        "each function touches its own table and nothing else",
        ("tests/e2e/test_iam.py::test_each_probe_fails_without_its_permission_and_works_with_it",),
        (f"{POLICIES}::test_policies_are_exact",),
    ),
    Linha(
        "lambda.error_metric",
        "AWS/Lambda Errors by function",
        "published",
        LAMBDA + "monitoring-metrics-types.html",
        "an alarm on each function's errors",
        (),
        (f"{WATCH}::test_nothing_goes_unwatched",),
    ),
    Linha(
        "lambda.emf",
        "a metric written in the log (embedded metric format)",
        "published",
        CW + "CloudWatch_Embedded_Metric_Format.html",
        "business metrics on the dashboards",
        (),
        ("tests/infra/test_metricas.py::test_every_metric_read_is_counted_by_some_function",),
        notas={"local": "by the bridge of ours that feeds the engine"},
    ),
    # --- alarms ---
    Linha(
        "alarm.on_queue_metric",
        "an alarm on a queue's depth",
        "ALARM",
        SQS + "sqs-available-cloudwatch-metrics.html",
        "a person learns of a compensation that failed",
        ("tests/unit/test_engine_alarms.py::test_one_message_in_the_window_fires_and_the_reason_says_so",),
        (f"{WATCH}::test_nothing_goes_unwatched",),
        notas={
            "local": "by the bridge of ours that feeds the engine",
            "localstack": "from the engine's own metrics, over periods that a plugin of ours shortens",
        },
    ),
    Linha(
        "alarm.dimensions",
        "an alarm and another queue's data",
        "fires for its own dimensions only",
        CW + "cloudwatch_concepts.html",
        "the page says which queue",
        ("tests/e2e/test_motor.py::test_only_its_own_queue_moves_an_alarm_and_both_changes_are_notified",),
        notas={
            "local": "by an evaluator of ours in the engine",
            "localstack": "over periods that a plugin of ours shortens",
        },
    ),
    Linha(
        "alarm.action_to_topic",
        "an alarm's action",
        "the notification arrives",
        CW + "AlarmThatSendsEmail.html",
        "the alarm reaches someone",
        (),
        (f"{WATCH}::test_an_alarm_that_tells_nobody_is_caught",),
        notas={
            "local": "by an evaluator of ours in the engine",
            "localstack": "over periods that a plugin of ours shortens",
        },
    ),
    Linha(
        "alarm.percentile",
        "an alarm on p99",
        "ALARM",
        CW + "cloudwatch_concepts.html",
        "the saga is slower than normal",
        (
            "tests/unit/test_engine_query_protocol.py::test_a_percentile_alarm_has_no_statistic_and_keeps_what_it_does_with_few_samples",
        ),
        (PLAN,),
        notas={"local": "by an evaluator of ours in the engine"},
    ),
    Linha(
        "alarm.metric_math",
        "an alarm on an expression",
        "ALARM",
        CW + "Create-alarm-on-metric-math-expression.html",
        "avoided where an alarm on one metric says the same",
        ("tests/unit/test_engine_alarms.py::test_what_is_not_understood_changes_nothing",),
    ),
    # --- queues, topics, tables ---
    Linha(
        "sns.queue_policy",
        "a topic that the queue's policy does not name",
        "delivered only where the policy allows",
        AWS + "sns/latest/dg/subscribe-sqs-queue-to-sns-topic.html",
        "a subscription needs its policy; only the proofs make one",
        (f"{PROVAS}::test_only_the_topic_may_write_to_the_queue_and_both_are_undone",),
    ),
    Linha(
        "sqs.limit.message_1mib",
        "size of a message",
        "1 MiB accepted, more refused",
        SQS + "quotas-messages.html",
        "bodies are small; bounded at the HTTP edge",
        ("tests/e2e/test_api.py::test_bad_input_is_a_clear_400_and_never_an_echo",),
    ),
    Linha(
        "sqs.redrive_allow_policy",
        "a DLQ that allows no source",
        "another source is refused",
        SQS + "sqs-configure-dead-letter-queue-redrive.html",
        "only the main queue may fill the DLQ",
        (),
        (PLAN,),
    ),
    Linha(
        "dynamodb.all_old_on_condition",
        "ReturnValuesOnConditionCheckFailure ALL_OLD",
        "the item comes with the error",
        DDB + "WorkingWithItems.html",
        "'already mine' and 'no balance' are told apart without a second read",
        ("tests/unit/test_estoque.py::test_duplicates_have_one_effect_and_are_counted",),
    ),
    Linha(
        "dynamodb.update_absent_map",
        "SET reservas.#p with no map",
        "ValidationException",
        DDB + "Expressions.UpdateExpressions.html",
        "the reserve makes the map when it is absent",
        ("tests/unit/test_estoque.py::test_reserve_and_release_with_and_without_maps",),
    ),
    Linha(
        "dynamodb.limit.item_400k",
        "an item above 400 KB",
        "ValidationException",
        DDB + "ServiceQuotas.html",
        "the stock item does not grow for ever",
        ("tests/unit/test_estoque.py::test_barriers_do_not_grow_the_item_for_ever",),
    ),
    Linha(
        "dynamodb.ttl",
        "TTL of a table (when items go is up to AWS)",
        "can be switched on",
        DDB + "TTL.html",
        "only saves room: an expired key is judged by its date, not by its absence",
        ("tests/unit/test_gateway_simulado.py::test_after_24_h_a_key_is_forgotten_but_a_cancelled_one_is_not",),
        (PLAN,),
    ),
    # --- what the design starts from ---
    Linha(
        "ssm.secure_string",
        "a SecureString",
        "readable only with decryption",
        AWS + "systems-manager/latest/userguide/sysman-paramstore-securestring.html",
        "the gateway's key is in no variable",
        ("tests/unit/test_pagamentos.py::test_rotated_api_key_is_read_again",),
        (PLAN,),
    ),
    Linha(
        "http_api.exists",
        "HTTP APIs (API Gateway v2)",
        "present",
        AWS + "apigateway/latest/developerguide/http-api.html",
        "the edge of the three systems; where absent, each function has its own URL (habilitar_api_http)",
        ("tests/e2e/test_api.py::test_a_warm_post_is_answered_in_under_300_ms",),
        (PLAN,),
    ),
    Linha(
        "scheduler.invokes",
        "an EventBridge Scheduler schedule",
        "invokes its target",
        AWS + "scheduler/latest/UserGuide/what-is-scheduler.html",
        "reconcilers that run by the clock; run by hand or by the tests where nothing is invoked",
        (),
        (PLAN,),
    ),
)

POR_SONDA = {linha.sonda: linha for linha in LINHAS}
