// A typed client of thirty lines on graphql-codegen's client preset: a wrong field or variable does not compile.
import { graphql } from "../generated/typed/graphql/index.js";
import type { TypedDocumentString } from "../generated/typed/graphql/graphql.js";

export const Product = graphql(`
  query Product($productId: ID!) {
    product(productId: $productId) {
      id
      productId
      title
      version
      stock {
        available
      }
    }
  }
`);

export const Products = graphql(`
  query Products($first: Int, $after: String) {
    productsByCategory(categoryId: "tools", first: $first, after: $after) {
      edges {
        cursor
        node {
          id
          productId
          title
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`);

export const Anything = graphql(`
  query Anything($id: ID!) {
    node(id: $id) {
      __typename
      id
      ... on Product {
        title
      }
    }
  }
`);

export const Rename = graphql(`
  mutation Rename($input: UpdateProductInput!, $key: String) {
    updateProduct(input: $input, idempotencyKey: $key) {
      product {
        id
        productId
        title
        version
      }
      errors {
        code
        message
        field
        currentVersion
      }
    }
  }
`);

type Answer<Data> = { data: Data | null; errors?: { message: string; extensions: { code: string } }[] };

/** Asks with the text, or with nothing but the document's id. */
export async function ask<Data, Variables>(
  url: string,
  token: string,
  document: TypedDocumentString<Data, Variables>,
  variables: Variables,
  byId: boolean,
): Promise<Answer<Data>> {
  const documentId: unknown = document.__meta__?.["hash"];
  const answer = await fetch(url, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({ ...(byId ? { documentId } : { query: document.toString() }), variables }),
  });
  return (await answer.json()) as Answer<Data>;
}

// the types say what may be null: a title may not, a stock may
export async function titleOf(url: string, token: string, productId: string): Promise<string | undefined> {
  const { data } = await ask(url, token, Product, { productId }, false);
  const available: number | undefined = data?.product?.stock?.available;
  return available === undefined ? undefined : data?.product?.title;
}

export async function mistakes(url: string, token: string): Promise<void> {
  // @ts-expect-error a variable is missing
  await ask(url, token, Product, {}, false);
  // @ts-expect-error there is no such field
  (await ask(url, token, Product, { productId: "p" }, false)).data?.product?.titel;
  // @ts-expect-error what may be null is not a title
  const title: string = (await ask(url, token, Product, { productId: "p" }, false)).data?.product?.title;
  void title;
  // @ts-expect-error a list is null if it failed
  (await ask(url, token, Products, {}, false)).data?.productsByCategory.edges;
}
