"""moto's server with the few requests of Terraform's provider that moto does not know."""

import json
import sys
from collections.abc import Callable
from typing import Any

from moto.applicationautoscaling.exceptions import AWSValidationException
from moto.applicationautoscaling.responses import ApplicationAutoScalingResponse as Scaling
from moto.cloudwatch.responses import CloudWatchResponse as Watch
from moto.core.exceptions import JsonRESTError
from moto.dax.responses import DAXResponse as Dax
from moto.kms.responses import KmsResponse as Kms
from moto.server import main
from moto.sts.responses import TokenResponse as Sts

_tags: dict[str, dict[str, str]] = {}
_periods: dict[str, int] = {}
_groups: dict[str, dict[str, dict[str, Any]]] = {"SubnetGroup": {}, "ParameterGroup": {}}
_register = Scaling.register_scalable_target
_enable_rotation = Kms.enable_key_rotation
_assume_role = Sts.assume_role
_rotation_status = Kms.get_key_rotation_status


def _register_with_tags(self: Any) -> str:
    answer = str(_register(self))
    _tags.setdefault(json.loads(answer)["ScalableTargetARN"], {}).update(self._get_param("Tags") or {})
    return answer


def _list_tags(self: Any) -> str:
    return json.dumps({"Tags": _tags.get(self._get_param("ResourceARN"), {})})


def _tag(self: Any) -> str:
    _tags.setdefault(self._get_param("ResourceARN"), {}).update(self._get_param("Tags"))
    return "{}"


def _gone_as_aws_says(method: Callable[[Any], str]) -> Callable[[Any], str]:
    """The provider repeats a deletion whose answer was lost, and knows AWS's word for what is gone."""

    def answer(self: Any) -> str:
        try:
            return method(self)
        except AWSValidationException as error:
            if "found for service namespace" in error.message:
                raise JsonRESTError("ObjectNotFoundException", error.message) from error
            raise

    return answer


def _enable_rotation_with_period(self: Any) -> str:
    _periods[self._get_param("KeyId")] = self._get_param("RotationPeriodInDays") or 365
    return str(_enable_rotation(self))


def _rotation_status_with_period(self: Any) -> str:
    answer = json.loads(_rotation_status(self))
    period = _periods.get(self._get_param("KeyId"))
    return json.dumps({**answer, **({"RotationPeriodInDays": period} if period else {})})


def _assume_role_with_source(self: Any) -> Any:
    answer: Any = _assume_role(self)
    source = self._get_param("SourceIdentity")
    if source is not None:
        answer.result["SourceIdentity"] = source
    return answer


def _created_group(kind: str) -> Callable[[Any], str]:
    """DAX's groups of subnets and of parameters, which moto does not know."""

    def answer(self: Any) -> str:
        request = json.loads(self.body)
        group = {**request, "Subnets": [{"SubnetIdentifier": name} for name in request.get("SubnetIds", ())]}
        _groups[kind][request[f"{kind}Name"]] = {"VpcId": "vpc-moto", **group}
        return json.dumps({kind: _groups[kind][request[f"{kind}Name"]]})

    return answer


def _described_groups(kind: str) -> Callable[[Any], str]:
    def answer(self: Any) -> str:
        names = json.loads(self.body)[f"{kind}Names"]
        return json.dumps({f"{kind}s": [_groups[kind][name] for name in names]})

    return answer


def _updated_parameters(self: Any) -> str:
    request = json.loads(self.body)
    group = _groups["ParameterGroup"][request["ParameterGroupName"]]
    group["ParameterNameValues"] = request["ParameterNameValues"]
    return json.dumps({"ParameterGroup": group})


def _described_parameters(self: Any) -> str:
    set_here = _groups["ParameterGroup"][json.loads(self.body)["ParameterGroupName"]].get("ParameterNameValues", ())
    return json.dumps({"Parameters": [{**each, "Source": "user"} for each in set_here]})


_METHODS: dict[type, dict[str, Callable[..., Any]]] = {
    # without an answer the provider asks for the tags again and again, for minutes
    Scaling: {
        "register_scalable_target": _register_with_tags,
        "list_tags_for_resource": _list_tags,
        "tag_resource": _tag,
        "delete_scaling_policy": _gone_as_aws_says(Scaling.delete_scaling_policy),
        "deregister_scalable_target": _gone_as_aws_says(Scaling.deregister_scalable_target),
    },
    # what moto stores for PutMetricAlarm it can read back as a composite alarm, too
    Watch: {"put_composite_alarm": Watch.put_metric_alarm},
    # AWS repeats the source identity, and the gateway takes no session without it
    Sts: {"assume_role": _assume_role_with_source},
    Dax: {
        "create_subnet_group": _created_group("SubnetGroup"),
        "describe_subnet_groups": _described_groups("SubnetGroup"),
        "create_parameter_group": _created_group("ParameterGroup"),
        "describe_parameter_groups": _described_groups("ParameterGroup"),
        "update_parameter_group": _updated_parameters,
        "describe_parameters": _described_parameters,
    },
    # moto forgets how often a key rotates
    Kms: {
        "enable_key_rotation": _enable_rotation_with_period,
        "get_key_rotation_status": _rotation_status_with_period,
    },
}


def install() -> None:
    for kind, methods in _METHODS.items():
        for name, method in methods.items():
            setattr(kind, name, method)


if __name__ == "__main__":
    install()
    main(["--host", "127.0.0.1", "--port", sys.argv[1]])
