// Who orders: one of those who ordered lately, or anybody by e-mail.
import { useId, useState } from "react";
import { useClient, useQuery } from "urql";
import { graphql } from "./gql";
import { codesOf } from "./problems";

const RECENT = graphql(/* GraphQL */ `
  query RecentCustomers {
    activeOrders(first: 40) {
      nodes {
        id
        userId
        user {
          id
          userId
          name
        }
      }
    }
  }
`);

const BY_EMAIL = graphql(/* GraphQL */ `
  query CustomerByEmail($email: String!) {
    userByEmail(email: $email) {
      id
      userId
      name
    }
  }
`);

export interface Customer {
  userId: string;
  name: string;
}

interface FieldProps {
  customer: Customer | null;
  choose: (customer: Customer | null) => void;
}

export function CustomerField({ customer, choose }: FieldProps) {
  const [{ data }] = useQuery({ query: RECENT });
  const recent = new Map<string, Customer>();
  for (const { userId, user } of data?.activeOrders?.nodes ?? []) recent.set(userId, { userId, name: user?.name ?? userId });
  if (customer) recent.set(customer.userId, customer);
  const sorted = [...recent.values()].sort((one, other) => one.name.localeCompare(other.name));
  return (
    <>
      <label>
        Customer
        <select value={customer?.userId ?? ""} onChange={(event) => choose(recent.get(event.target.value) ?? null)}>
          <option value="">Choose…</option>
          {sorted.map(({ userId, name }) => (
            <option key={userId} value={userId}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <ByEmail choose={choose} />
    </>
  );
}

function ByEmail({ choose }: Pick<FieldProps, "choose">) {
  const client = useClient();
  const id = useId();
  const [email, setEmail] = useState("");
  const [said, setSaid] = useState("");

  async function find(): Promise<void> {
    const { data, error } = await client.query(BY_EMAIL, { email: email.trim() }).toPromise();
    const found = data?.userByEmail;
    if (found) choose({ userId: found.userId, name: found.name ?? found.userId });
    if (codesOf(error).includes("FORBIDDEN")) setSaid("Your role may not look for e-mail addresses.");
    else if (error) setSaid("That did not work. Please try again.");
    else setSaid(found ? `Found ${found.name}.` : "Nobody here has this address.");
  }

  return (
    <div className="find">
      <label htmlFor={id}>or by e-mail</label>
      <span>
        <input id={id} type="email" value={email} onChange={(event) => setEmail(event.target.value)} placeholder="name@example.com" />
        <button type="button" className="quiet" disabled={!email.trim()} onClick={find}>
          Find
        </button>
      </span>
      <small role="status">{said}</small>
    </div>
  );
}
