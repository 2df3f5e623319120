/// What is sent to the server, and answered by it.
enum PostgreSQLCommand {
    case prepare(name: String, sql: String)
    case execute(name: String, arguments: [SQLValue])
    /// Without arguments, and never seen again.
    case run(String)
}
