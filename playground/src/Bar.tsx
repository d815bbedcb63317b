// The bar on top: who asks, as which role, with which token.
import { pick, useGraphiQL, useGraphiQLActions } from "@graphiql/react";
import { useEffect, useState } from "react";
import { createPortal } from "react-dom";
import { hueOf } from "./colours";
import type { Config } from "./config";
import { activeTab } from "./explanation";
import { type Choice, choice, fitting, identity } from "./identity";
import { useStored } from "./store";
import { useSwitch } from "./switching";
import { TokenPanel } from "./TokenPanel";

interface Option {
  name: string;
  hint: string;
  hue?: number;
}

export function Bar({ config }: { config: Config }) {
  const who = useStored(identity);
  useActiveTab();
  useFreshPanels();
  useRunFromAnywhere();
  const place = document.getElementById("bar");
  if (!who || !place) return null;
  return createPortal(
    <>
      <strong className="title">Playground</strong>
      {config.sandbox ? (
        <Switch config={config} />
      ) : (
        <p className="who">
          <span className="tenant">{who.tenant}</span> <span className="role">{who.role}</span>
        </p>
      )}
      <TokenPanel who={who} canSignOut={!config.sandbox} />
    </>,
    place,
  );
}

/** The panels and the footer tell about the tab in front. */
function useActiveTab(): void {
  const { tabs, activeTabIndex } = useGraphiQL(pick("tabs", "activeTabIndex"));
  const id = tabs[activeTabIndex]?.id ?? "";
  useEffect(() => activeTab.set(id), [id]);
}

/** GraphiQL shows one panel after the other in the same box, which stays scrolled. */
function useFreshPanels(): void {
  const panel = useGraphiQL((state) => state.visiblePlugin);
  useEffect(() => {
    document.querySelector(".graphiql-plugin")?.scrollTo(0, 0);
  }, [panel]);
}

/** The editors know Ctrl-Enter by themselves, but only while somebody writes in them. */
function useRunFromAnywhere(): void {
  const { run } = useGraphiQLActions();
  useEffect(() => {
    function pressed(event: KeyboardEvent): void {
      const isElsewhere = !(event.target as Element | null)?.closest(".monaco-editor, [role=dialog], button");
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && isElsewhere) void run();
    }
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, [run]);
}

function Switch({ config }: { config: Config }) {
  const who = useStored(choice);
  const [failure, setFailure] = useState("");
  const switchTo = useSwitch(config);
  const names = config.sandbox?.tenants.map((tenant) => tenant.name) ?? [];
  const tenants = (config.sandbox?.tenants ?? []).map(({ name, title }) => ({ name, hint: title, hue: hueOf(name, names) }));
  const roles = (config.sandbox?.roles ?? []).map(({ name, description }) => ({ name, hint: `${name} ${description}` }));

  async function change(part: Partial<Choice>): Promise<void> {
    try {
      setFailure("");
      const chosen = { ...choice.get(), ...part };
      await switchTo(config.sandbox ? fitting(config.sandbox, chosen) : chosen);
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error));
    }
  }

  return (
    <>
      <Choices label="Tenant" options={tenants} chosen={who.tenant} choose={(tenant) => change({ tenant })} />
      <Choices label="Role" options={roles} chosen={who.role} choose={(role) => change({ role })} />
      <Subject config={config} who={who} choose={(subject) => change({ subject })} />
      <p className="failure" role="alert">
        {failure}
      </p>
    </>
  );
}

interface SubjectProps {
  config: Config;
  who: Choice;
  choose: (subject: string) => void;
}

/** Whose token: for `me`, and for roles that have the rows of one person only. */
function Subject({ config, who, choose }: SubjectProps) {
  const subjects = config.sandbox?.tenants.find(({ name }) => name === who.tenant)?.subjects ?? [];
  const isOwn = config.sandbox?.roles.some(({ name, own }) => name === who.role && own);
  if (subjects.length === 0) return null;
  return (
    <label className="subject" title="The subject of the token: whom `me` means, and whose rows an own-rows role has">
      Subject
      <select value={who.subject} onChange={({ target }) => choose(target.value)}>
        {!isOwn && <option value="">none</option>}
        {subjects.map((subject) => (
          <option key={subject}>{subject}</option>
        ))}
      </select>
    </label>
  );
}

interface ChoicesProps {
  label: string;
  options: Option[];
  chosen: string;
  choose: (name: string) => void;
}

/** Radio buttons that look like one control: arrow keys move, one Tab passes. */
function Choices({ label, options, chosen, choose }: ChoicesProps) {
  return (
    <fieldset className={`choices ${label.toLowerCase()}s`}>
      <legend>{label}</legend>
      {options.map(({ name, hint, hue }) => (
        <label key={name} title={hint} style={hue === undefined ? undefined : ({ "--own-hue": hue } as React.CSSProperties)}>
          <input type="radio" name={label} value={name} checked={name === chosen} onChange={() => choose(name)} />
          <span>{name}</span>
        </label>
      ))}
    </fieldset>
  );
}
