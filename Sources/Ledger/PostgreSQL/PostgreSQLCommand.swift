/// A message to the server, which the server answers.
enum PostgreSQLCommand {
    case prepare(name: String, sql: String)
    case execute(name: String, arguments: [SQLValue])
    /// Without arguments, and never seen again.
    case run(String)
}
