import ArgumentParser
import Commerce
import Device
import Foundation

/// Which service a command talks to: its own, or one that runs elsewhere.
struct ServerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The address of a running service to talk to; its API key stands in $TILL_API_KEY, or a user's token in $TILL_TOKEN.",
            valueName: "url"))
    var server: ServerAddress?

    /// What calls the running service; nil when none was named.
    ///
    /// - Throws: `ValidationError` without a credential.
    func client() throws -> ServiceClient? {
        guard let server else { return nil }
        switch (Self.variable("TILL_API_KEY"), Self.variable("TILL_TOKEN")) {
        case (let key?, nil): return ServiceClient(url: server.url, credential: key)
        case (nil, let token?): return ServiceClient(url: server.url, credential: token)
        case (nil, nil):
            throw ValidationError(
                "Put the service's API key into TILL_API_KEY (`till keys make` makes one), or a user's token into TILL_TOKEN."
            )
        case (_?, _?): throw ValidationError("There are TILL_API_KEY and TILL_TOKEN: unset the one not to be used.")
        }
    }

    /// A user's line to the running service; nil when none was named.
    ///
    /// - Throws: `ValidationError` without a credential.
    func connection(for user: User) throws -> HTTPServiceConnection? {
        try client().map { HTTPServiceConnection(client: $0, user: named(user)) }
    }

    /// The user a service knows; nil where a token says whose it is, whatever the user is called here.
    func named(_ user: User) -> User? {
        server != nil && Self.variable("TILL_TOKEN") != nil ? nil : user
    }

    private static func variable(_ name: String) -> String? {
        ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
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

    /// Whether nobody on the way reads what is presented there.
    var hidesTokens: Bool {
        url.scheme == "https" || ["127.0.0.1", "localhost", "[::1]", "::1"].contains(url.host() ?? "")
    }
}
