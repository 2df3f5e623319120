import ArgumentParser
import Commerce
import Device
import Foundation

/// Which service a command talks to: its own, or one that runs elsewhere.
struct ServerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The address of a running service to talk to; its API key stands in $TILL_API_KEY.", valueName: "url"))
    var server: ServerAddress?

    /// A user's line to the running service; nil when none was named.
    ///
    /// - Throws: `ValidationError` without an API key.
    func connection(for user: User) throws -> HTTPServiceConnection? {
        guard let server else { return nil }
        guard let key = ProcessInfo.processInfo.environment["TILL_API_KEY"], !key.isEmpty else {
            throw ValidationError("Put the service's API key into TILL_API_KEY; `till keys make` makes one.")
        }
        return HTTPServiceConnection(url: server.url, user: user, key: key)
    }

    /// Hands `body` a user's line to the service named, or else to one that runs in this process over a data directory.
    func withService<Value: Sendable>(
        for user: User,
        data: DataDirectory,
        _ body: @Sendable @escaping (any ServiceConnection) async throws -> Value
    ) async throws -> Value {
        if let connection = try connection(for: user) { return try await body(connection) }
        return try await Parties(data).withService(for: user, body)
    }
}

/// Where a service listens: a scheme, a host and perhaps a port.
struct ServerAddress: ExpressibleByArgument {
    let url: URL

    init?(argument: String) {
        let text = argument.hasSuffix("/") ? String(argument.dropLast()) : argument
        guard let url = URL(string: text), let scheme = url.scheme, ["http", "https"].contains(scheme),
            let host = url.host(), !host.isEmpty, url.path.isEmpty, url.query == nil, url.user == nil
        else { return nil }
        self.url = url
    }
}
