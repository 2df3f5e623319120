/// A command to the server, which sends an answer to each.
enum PostgreSQLCommand {
    case prepare(name: String, sql: String)
    case execute(name: String, arguments: [SQLValue])
    /// A statement without arguments. The connection does not prepare it.
    case run(String)
}
