// Products by category, cheapest first, with what is left of each.
import { useQuery } from "urql";
import { add, basket } from "./basket";
import { graphql } from "./gql";
import type { ProductsOfCategoryQuery, ShelfProductFragment } from "./gql/graphql";
import { money } from "./money";
import { Failure } from "./Notice";
import { cursorOf, Pager } from "./Pager";
import { Picture } from "./Picture";
import { to } from "./route";
import { Stock } from "./Stock";
import { useStored } from "./store";

const CATEGORIES = graphql(/* GraphQL */ `
  query Categories {
    categories(first: 50) {
      nodes {
        id
        categoryId
        title
      }
    }
  }
`);

graphql(/* GraphQL */ `
  fragment ShelfProduct on Product {
    id
    productId
    title
    price
    currency
    stock {
      id
      available
    }
  }
`);

const PRODUCTS = graphql(/* GraphQL */ `
  query ProductsOfCategory($categoryId: ID!, $first: Int, $after: String, $last: Int, $before: String) {
    page: productsByCategory(categoryId: $categoryId, first: $first, after: $after, last: $last, before: $before) {
      nodes {
        ...ShelfProduct
        supplier {
          id
          title
        }
      }
      pageInfo {
        ...PageCursors
      }
    }
  }
`);

// who the suppliers are is no customer's business: their schema has no such field
const FOR_CUSTOMERS = graphql(/* GraphQL */ `
  query ProductsForCustomers($categoryId: ID!, $first: Int, $after: String, $last: Int, $before: String) {
    page: productsByCategory(categoryId: $categoryId, first: $first, after: $after, last: $last, before: $before) {
      nodes {
        ...ShelfProduct
      }
      pageInfo {
        ...PageCursors
      }
    }
  }
`);

type Product = ShelfProductFragment & Partial<NonNullable<ProductsOfCategoryQuery["page"]>["nodes"][number]>;

const SIZE = 8;

interface CatalogueProps {
  chosen?: string;
  query: URLSearchParams;
  forCustomers?: boolean;
}

export function Catalogue({ chosen, query, forCustomers = false }: CatalogueProps) {
  const [{ data, error, fetching }] = useQuery({ query: CATEGORIES });
  const categories = data?.categories?.nodes ?? [];
  const category = chosen ?? categories[0]?.categoryId;
  return (
    <>
      <h1>Catalogue</h1>
      {error && <Failure error={error} />}
      {fetching && !data && <p className="waiting">Loading the catalogue…</p>}
      <nav className="views" aria-label="Categories">
        {categories.map(({ id, categoryId, title }) => (
          <a key={id} href={to(["catalogue", categoryId])} aria-current={categoryId === category ? "page" : undefined}>
            {title}
          </a>
        ))}
      </nav>
      {category && <Shelf key={category} category={category} query={query} forCustomers={forCustomers} />}
    </>
  );
}

function Shelf({ category, query, forCustomers }: { category: string; query: URLSearchParams; forCustomers: boolean }) {
  const variables = { categoryId: category, ...cursorOf(query, SIZE) };
  // stock changes while people look: what is known is shown at once, and asked again
  const requestPolicy = "cache-and-network";
  const [staffed, askStaffed] = useQuery({ query: PRODUCTS, variables, pause: forCustomers, requestPolicy });
  const [open, askOpen] = useQuery({ query: FOR_CUSTOMERS, variables, pause: !forCustomers, requestPolicy });
  const { error, fetching } = forCustomers ? open : staffed;
  const again = forCustomers ? askOpen : askStaffed;
  const page = forCustomers ? open.data?.page : staffed.data?.page;
  if (!page) {
    if (fetching) return <p className="waiting">Loading products…</p>;
    return error ? <Failure error={error} retry={() => again({ requestPolicy: "network-only" })} /> : null;
  }
  if (page.nodes.length === 0) return <p className="empty">This category is empty.</p>;
  return (
    <>
      <ul className="products">
        {page.nodes.map((product) => (
          <Card key={product.id} product={product} />
        ))}
      </ul>
      <Pager info={page.pageInfo} path={["catalogue", category]} query={{}} words={["Cheaper", "Dearer"]} />
    </>
  );
}

function Card({ product }: { product: Product }) {
  const { productId, title, price, currency, supplier, stock } = product;
  const inBasket = useStored(basket).find((line) => line.productId === productId)?.quantity;
  const available = stock?.available ?? 0;
  return (
    <li className="product">
      <Picture name={productId} />
      <h2>{title}</h2>
      {supplier !== undefined && <p className="dim">{supplier?.title ?? "own make"}</p>}
      <p className="price">
        <strong>{money(price, currency)}</strong>
        <Stock available={available} />
      </p>
      <button
        type="button"
        disabled={available === 0}
        aria-label={`Put ${title} into the basket`}
        onClick={() => add(productId)}
      >
        {inBasket ? `In the basket: ${inBasket}` : "Into the basket"}
      </button>
    </li>
  );
}
