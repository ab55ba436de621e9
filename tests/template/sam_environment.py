"""What `sam local invoke` would hand to each function, by SAM's own interpreter: in come template, region and env file, out come the variables (JSON)."""

import json
import sys

from samcli.commands.local.lib.local_lambda import LocalLambdaRunner
from samcli.lib.providers.sam_function_provider import SamFunctionProvider
from samcli.lib.providers.sam_stack_provider import SamLocalStackProvider


def main() -> None:
    given = json.load(sys.stdin)
    stacks, _ = SamLocalStackProvider.get_stacks(given["template"], global_parameter_overrides={"AWS::Region": given["region"]})
    provider = SamFunctionProvider(stacks)
    runner = LocalLambdaRunner(
        local_runtime=None, function_provider=provider, cwd=".", real_path=".", aws_region=given["region"], env_vars_values=given["env_vars"]
    )
    json.dump({function.name: runner._make_env_vars(function).resolve() for function in provider.get_all()}, sys.stdout)


if __name__ == "__main__":
    main()
