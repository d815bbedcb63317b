// What the shop knows of a customer: its own profile, addresses and messages, in one request.
import type { ReactNode } from "react";
import { useQuery } from "urql";
import { graphql } from "./gql";
import { Failure, Notice } from "./Notice";
import { moment, since } from "./words";

const ME = graphql(/* GraphQL */ `
  query Me {
    me {
      id
      userId
      name
      createdAt
      address {
        street
        postalCode
        city
        country
      }
      emails {
        nodes {
          email
          verified
        }
      }
      phones {
        nodes {
          phone
          verified
        }
      }
      notifications(first: 10) {
        nodes {
          id
          text
          createdAt
          read
        }
      }
    }
  }
`);

export function Profile() {
  const [{ data, error, fetching }, again] = useQuery({ query: ME });
  const me = data?.me;
  if (!data && fetching) return <p className="waiting">Loading your profile…</p>;
  if (error && !data) return <Failure error={error} retry={() => again({ requestPolicy: "network-only" })} />;
  if (!me) return <Notice kind="warn" title="This shop does not know you yet." />;
  return (
    <>
      <h1>{me.name ?? me.userId}</h1>
      <div className="columns">
        <dl className="facts card">
          <Fact name="Address">
            {me.address ? (
              <>
                {me.address.street}
                <br />
                {me.address.postalCode} {me.address.city}, {me.address.country}
              </>
            ) : (
              "none"
            )}
          </Fact>
          <Fact name="E-mail">
            <Contacts all={me.emails.nodes.map(({ email, verified }) => ({ text: email, verified }))} />
          </Fact>
          <Fact name="Phone">
            <Contacts all={me.phones.nodes.map(({ phone, verified }) => ({ text: phone, verified }))} />
          </Fact>
          <Fact name="Customer since">{moment(me.createdAt)}</Fact>
        </dl>
        <section className="card" aria-label="Messages">
          <h2>Messages</h2>
          {me.notifications.nodes.length === 0 && <p className="dim">None.</p>}
          <ul className="items">
            {me.notifications.nodes.map(({ id, text, createdAt, read }) => (
              <li key={id}>
                <span>{read ? text : <strong>{text}</strong>}</span>
                <span className="dim">{since(createdAt)}</span>
              </li>
            ))}
          </ul>
        </section>
      </div>
    </>
  );
}

function Contacts({ all }: { all: { text?: string | null; verified: boolean }[] }) {
  if (all.length === 0) return "none";
  return all.map(({ text, verified }) => (
    <div key={text}>
      {text} {!verified && <span className="dim">not confirmed</span>}
    </div>
  ));
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
