// Types and persisted documents from the schema in the repository; nothing is asked over the network.
export default {
  schema: "../../schema.graphql",
  documents: ["typed/*.ts"],
  generates: {
    "./generated/typed/graphql/": {
      preset: "client",
      presetConfig: { persistedDocuments: { hashAlgorithm: "sha256" }, fragmentMasking: false },
      config: {
        documentMode: "string",
        enumsAsTypes: true,
        useTypeImports: true,
        strictScalars: true,
        scalars: { DateTime: "string", Decimal: "string" },
      },
    },
  },
};
