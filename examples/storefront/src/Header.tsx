// The shop's name, where one can go, and who is here.
import { basket } from "./basket";
import { type Config, isCustomer } from "./config";
import { to } from "./route";
import { type Session, signOut } from "./session";
import { useStored } from "./store";

const PAGES = [
  ["orders", "Orders"],
  ["catalogue", "Catalogue"],
  ["basket", "Basket"],
] as const;
const CUSTOMER_PAGES = [["orders", "My orders"], PAGES[1], PAGES[2], ["profile", "Profile"]] as const;

export function Header({ config, who, page }: { config: Config; who: Session; page: string }) {
  const shop = config.tenants.find((tenant) => tenant.name === who.tenant);
  const count = useStored(basket).reduce((sum, line) => sum + line.quantity, 0);
  return (
    <header className="top">
      <a className="shop" href={to(["orders"])}>
        <span className="sign" aria-hidden="true">
          {shop?.title[0]}
        </span>
        {shop?.title}
      </a>
      <nav aria-label="Pages">
        {(isCustomer(config, who.role) ? CUSTOMER_PAGES : PAGES).map(([name, title]) => (
          <a key={name} href={to([name])} aria-current={page === name ? "page" : undefined}>
            {title}
            {name === "basket" && count > 0 && <span className="count">{count}</span>}
          </a>
        ))}
      </nav>
      <p className="who">
        <span className="tenant">{who.tenant}</span>
        <span className="role">{who.subject ?? who.role}</span>
        <button type="button" className="quiet" onClick={() => signOut()}>
          Switch
        </button>
      </p>
    </header>
  );
}
