// Which shop, and as whom.
import { type CSSProperties, type FormEvent, useState } from "react";
import { hueOf } from "./colours";
import { type Config, isCustomer } from "./config";
import { reason, signIn } from "./session";
import { useStored } from "./store";

// a visitor wants to try everything; what the others may not do is one click away
const FIRST_ROLE = "editor";

const ABOUT: Record<string, string> = {
  acme: "Hammers, hinges and everything for the garden.",
  globex: "Desks, chairs and office supplies.",
  initech: "Beans, grinders and cups.",
};

const MAY: Record<string, string> = {
  viewer: "reads everything, changes nothing",
  support: "reads orders without personal data",
  editor: "reads everything and makes changes",
  admin: "may also delete",
  customer: "places orders and sees only their own",
};

export function SignIn({ config }: { config: Config }) {
  const why = useStored(reason);
  const [role, setRole] = useState(firstRole(config));
  const [people, setPeople] = useState<Record<string, string>>({});
  const [busy, setBusy] = useState("");
  const own = isCustomer(config, role);
  const [failure, setFailure] = useState("");

  function personOf(tenant: string): string | undefined {
    return people[tenant] ?? config.tenants.find(({ name }) => name === tenant)?.subjects[0];
  }

  async function enter(event: FormEvent, tenant: string): Promise<void> {
    event.preventDefault();
    setBusy(tenant);
    try {
      await signIn(config, { tenant, role, ...(own && { subject: personOf(tenant) }) });
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error));
      setBusy("");
    }
  }

  return (
    <main className="sign-in">
      <h1>Order desk</h1>
      <p className="lead">
        Three shops share one DynamoDB table, and each sees only its own data. Choose a role, then a shop.
      </p>
      <p className="notice warn" role="alert" hidden={!why && !failure}>
        {failure || why}
      </p>
      <fieldset className="roles">
        <legend>Your role</legend>
        {config.roles.map(({ name, description }) => (
          <label key={name}>
            <input type="radio" name="role" value={name} checked={name === role} onChange={() => setRole(name)} />
            <span>
              <strong>{name}</strong>
              <small>{MAY[name] ?? description}</small>
            </span>
          </label>
        ))}
      </fieldset>
      <ul className="shops">
        {config.tenants.map(({ name, title, subjects }) => (
          <li key={name} style={{ "--hue": hueOf(config, name) } as CSSProperties}>
            <button type="button" onClick={(event) => enter(event, name)} disabled={busy !== ""}>
              <span className="sign" aria-hidden="true">
                {title[0]}
              </span>
              <strong>{title}</strong>
              <small>{ABOUT[name]}</small>
              <span className="enter">{busy === name ? "Opening…" : `Sign in at ${name}`}</span>
            </button>
            {own && (
              <label className="person">
                Customer of {title}
                <select value={personOf(name)} onChange={({ target }) => setPeople({ ...people, [name]: target.value })}>
                  {subjects.map((subject) => (
                    <option key={subject}>{subject}</option>
                  ))}
                </select>
              </label>
            )}
          </li>
        ))}
      </ul>
      <p className="dim">
        No password is needed: this is the sandbox, and its issuer signs a real token for any role you choose.
      </p>
    </main>
  );
}

function firstRole(config: Config): string {
  const names = config.roles.map((role) => role.name);
  return names.includes(FIRST_ROLE) ? FIRST_ROLE : (names[0] ?? "");
}
