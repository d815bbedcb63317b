import { explorerPlugin } from "@graphiql/plugin-explorer";
import { HISTORY_PLUGIN } from "@graphiql/plugin-history";
import { GraphiQL } from "graphiql";
import { parse, print } from "graphql";
import { useMemo } from "react";
import { Bar } from "./Bar";
import { hueOf, useColours } from "./colours";
import { type Config, variablesOf } from "./config";
import { examplesPlugin } from "./Examples";
import { EXPLAIN_PLUGIN } from "./Explain";
import { createFetcher } from "./fetcher";
import { identity } from "./identity";
import { SignIn } from "./SignIn";
import { useStored } from "./store";
import { Summary } from "./Summary";

const WELCOME = "# Ctrl-Enter runs the operation; Ctrl-Space completes a name.";

/** As wide as a phone: one thing below the other, and nothing open that was not asked for. */
const isNarrow = matchMedia("(max-width: 720px)").matches;

/** GraphiQL shows the query of the first default tab but not its variables; what a visitor has left goes first. */
function isFirstVisit(): boolean {
  return localStorage.getItem("graphiql:tabState") === null;
}

export function App({ config }: { config: Config }) {
  const who = useStored(identity);
  const tenants = config.sandbox?.tenants.map((tenant) => tenant.name) ?? [];
  useColours(who?.tenant ?? "", who?.role ?? "", hueOf(who?.tenant ?? "", tenants));

  // a new fetcher or plugin would make GraphiQL start over, so they are made once
  const fetcher = useMemo(() => createFetcher(config), [config]);
  const plugins = useMemo(
    () => [...(config.examples.length ? [examplesPlugin(config)] : []), EXPLAIN_PLUGIN, HISTORY_PLUGIN, explorerPlugin()],
    [config],
  );
  const tabs = useMemo(
    () =>
      config.examples
        .filter((example) => example.tab)
        .map((example) => ({
          query: example.query.trim() + "\n",
          variables: variablesOf(example, who?.tenant ?? ""),
          headers: null,
        })),
    [config],
  );

  if (!who) return <SignIn config={config} />;
  return (
    <GraphiQL
      fetcher={fetcher}
      plugins={plugins}
      visiblePlugin={isNarrow ? undefined : EXPLAIN_PLUGIN}
      defaultTabs={tabs.length ? tabs : undefined}
      defaultQuery={`${WELCOME}\n${print(parse(config.query))}\n`}
      initialVariables={isFirstVisit() ? tabs[0]?.variables : undefined}
      defaultEditorToolsVisibility={isNarrow ? false : "variables"}
      inputValueDeprecation
      shouldPersistHeaders={false}
      showPersistHeadersSettings={false}
    >
      <GraphiQL.Logo>
        <span className="logo">{config.sandbox ? "sandbox" : ""}</span>
      </GraphiQL.Logo>
      <GraphiQL.Footer>
        <Summary />
      </GraphiQL.Footer>
      <Bar config={config} />
    </GraphiQL>
  );
}
