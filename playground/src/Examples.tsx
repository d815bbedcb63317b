// Every example operation, by domain; a click opens it in a tab.
import { type GraphiQLPlugin, pick, useGraphiQL, useGraphiQLActions } from "@graphiql/react";
import { type Config, type Example, variablesOf } from "./config";
import { identity } from "./identity";
import { withCode } from "./words";

export function examplesPlugin(config: Config): GraphiQLPlugin {
  return { title: "Examples", icon: Icon, content: () => <Examples examples={config.examples} /> };
}

function Examples({ examples }: { examples: Example[] }) {
  const open = useOpen();
  const domains = [...new Set(examples.map((example) => example.domain))];
  return (
    <section className="panel" aria-label="Examples">
      <h2>Examples</h2>
      {domains.map((domain) => (
        <div key={domain}>
          <h3>{domain}</h3>
          <ul className="examples">
            {examples
              .filter((example) => example.domain === domain)
              .map((example) => (
                <li key={example.title}>
                  <button type="button" onClick={() => open(example)}>
                    <strong>{example.title}</strong>
                    {/^\s*mutation\b/.test(example.query) && <span className="badge change">changes data</span>}
                    <span className="about">{withCode(example.about)}</span>
                  </button>
                </li>
              ))}
          </ul>
        </div>
      ))}
    </section>
  );
}

function useOpen(): (example: Example) => void {
  const { addTab, changeTab } = useGraphiQLActions();
  const { tabs, queryEditor, variableEditor } = useGraphiQL(pick("tabs", "queryEditor", "variableEditor"));
  return (example) => {
    const there = tabs.findIndex((tab) => tab.query?.trim() === example.query.trim());
    if (there >= 0) {
      changeTab(there);
      return;
    }
    addTab();
    queryEditor?.setValue(example.query.trim() + "\n");
    variableEditor?.setValue(variablesOf(example, identity.get()?.tenant ?? ""));
  };
}

function Icon() {
  return (
    <svg viewBox="0 0 20 20" fill="none" stroke="currentColor" strokeWidth="1.5" strokeLinejoin="round">
      <path d="M3 4.5h14M3 10h14M3 15.5h9" strokeLinecap="round" />
    </svg>
  );
}
