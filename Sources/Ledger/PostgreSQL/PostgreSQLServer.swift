/// One of the servers of an address.
struct PostgreSQLServer: Equatable, Sendable {
    let host: String
    let port: String
}
