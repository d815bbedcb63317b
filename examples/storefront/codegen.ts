import type { CodegenConfig } from "@graphql-codegen/cli";

const config: CodegenConfig = {
  // a team of its own would commit a copy of the schema, or fetch it from a gateway with introspection
  schema: "../../schema.graphql",
  documents: ["src/**/*.{ts,tsx}", "!src/gql/**"],
  generates: {
    "src/gql/": {
      preset: "client",
      presetConfig: { fragmentMasking: false },
      config: {
        // both travel as text: a moment in UTC, and a decimal that keeps every digit
        scalars: { DateTime: "string", Decimal: "string" },
        strictScalars: true,
        enumsAsTypes: true,
        onlyOperationTypes: true,
        useTypeImports: true,
      },
    },
  },
};

export default config;
