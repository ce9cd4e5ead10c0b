// The services' part of the home's schema: the gateway's data is in the home's database.
export { serviceMigrations } from "../../server/stores/migrations.ts";
export type { ServiceTables } from "../../server/stores/tables.ts";
