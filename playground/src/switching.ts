// From one tenant or role to another: nothing of the one before stays on the screen, and queries are asked again.
import { pick, useGraphiQL, useGraphiQLActions } from "@graphiql/react";
import { useRef } from "react";
import { type Config, variablesOf } from "./config";
import { forgetLast } from "./explanation";
import { become, type Choice, choice } from "./identity";
import { onlyReads } from "./operations";

export function useSwitch(config: Config): (chosen: Choice) => Promise<void> {
  const { run, stop, updateActiveTabValues } = useGraphiQLActions();
  const state = useGraphiQL(
    pick("tabs", "activeTabIndex", "queryEditor", "responseEditor", "variableEditor", "isFetching"),
  );
  const isDue = useRef(false);

  return async (chosen) => {
    const before = choice.get().tenant;
    // what was asked and not yet answered is asked again too
    const wasRun = isDue.current || state.isFetching || Boolean(state.responseEditor?.getValue());
    isDue.current = wasRun;
    stop();
    for (const [index, tab] of state.tabs.entries()) {
      // GraphiQL reads a tab's values when it is opened and has no action to change those of another one
      const variables = translated(config, tab.query ?? "", tab.variables ?? "", before, chosen.tenant);
      if (index === state.activeTabIndex) {
        if (variables !== null) state.variableEditor?.setValue(variables);
      } else {
        tab.response = null;
        if (variables !== null) tab.variables = variables;
      }
    }
    state.responseEditor?.setValue("");
    updateActiveTabValues({ response: "" });
    forgetLast();
    if (!config.sandbox || !(await become(config.sandbox, chosen))) return;
    isDue.current = false;
    // a change is never made twice, least of all for somebody else
    if (wasRun && onlyReads(state.queryEditor?.getValue() ?? "")) await run();
  };
}

/** The other tenant's variables of an example that was left as it is; null where they stay. */
function translated(config: Config, query: string, variables: string, from: string, to: string): string | null {
  const example = config.examples.find((each) => each.query.trim() === query.trim());
  if (!example || variables.trim() !== variablesOf(example, from)) return null;
  return variablesOf(example, to);
}
