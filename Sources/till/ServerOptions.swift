import AppStore
import ArgumentParser
import Foundation
import Proofs

/// The service that a command calls: its own, or a running one.
struct ServerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The address of a running service. Put its API key into $TILL_API_KEY, or a user's token into $TILL_TOKEN.",
            valueName: "url"))
    var server: ServerAddress?

    @Flag(help: "Send the credential to --server unencrypted, in a network you trust.")
    var insecure = false

    @Option(
        help: ArgumentHelp(
            "A PEM file of root certificates that the connection to --server trusts, besides those of the system.",
            valueName: "file"))
    var caFile: String?

    func validate() throws {
        guard let server else {
            guard !insecure else { throw ValidationError("--insecure needs --server.") }
            guard caFile == nil else { throw ValidationError("--ca-file needs --server.") }
            return
        }
        guard caFile == nil || server.url.scheme == "https" else {
            throw ValidationError("--ca-file needs an https address; --server is \"\(server.url.absoluteString)\".")
        }
        guard insecure || server.isConfidential else {
            throw ValidationError(
                "\"\(server.url.absoluteString)\" would send the credential unencrypted. Use https, or add --insecure "
                    + "for a network you trust.")
        }
    }

    /// The client of the running service; nil if none was named.
    ///
    /// - Throws: `ValidationError` without a credential; `CertificateFileError`.
    func client() throws -> ServiceClient? {
        guard let server else { return nil }
        switch (Self.variable("TILL_API_KEY"), Self.variable("TILL_TOKEN")) {
        case (let key?, nil): return try client(of: server, credential: key)
        case (nil, let token?): return try client(of: server, credential: token)
        case (nil, nil):
            throw ValidationError(
                "Put the service's API key into TILL_API_KEY (`till keys make` makes one), or a user's token into TILL_TOKEN."
            )
        case (_?, _?): throw ValidationError("TILL_API_KEY and TILL_TOKEN are both set. Unset one of them.")
        }
    }

    private func client(of server: ServerAddress, credential: String) throws(CertificateFileError) -> ServiceClient {
        guard let caFile else { return ServiceClient(url: server.url, credential: credential) }
        return ServiceClient(
            url: server.url, credential: credential, trusting: try CertificateFile(path: caFile).roots())
    }

    /// A user's connection to the running service; nil if none was named.
    ///
    /// - Throws: `ValidationError` without a credential.
    func connection(for user: User) throws -> HTTPServiceConnection? {
        try client().map { HTTPServiceConnection(client: $0, user: named(user)) }
    }

    /// Passes `body` a client of the running service, or else of one of this process.
    ///
    /// - Parameters:
    ///   - data: The data directory of the service of this process.
    ///   - accepted: The accepted origins of that service.
    func withClient<Value: Sendable>(
        _ data: DataDirectory,
        _ accepted: AcceptOption,
        _ body: @Sendable @escaping (ServiceClient) async throws -> Value
    ) async throws -> Value {
        if let client = try client() { return try await body(client) }
        let local = try await Self.localService(reading: data, accepted)
        // Items may have ended since a service last ran.
        try await local.recordDueStates()
        return try await local.withClient(body)
    }

    /// The service of this process, with the ledger in the data directory.
    ///
    /// - Throws: `ValidationError` if `TILL_LEDGER` names another ledger.
    static func localService(reading data: DataDirectory, _ accepted: AcceptOption) async throws -> LocalService {
        guard variable("TILL_LEDGER") == nil else {
            throw ValidationError(
                "TILL_LEDGER names a database, which this command uses through a running service alone. Name the service with "
                    + "--server, and put its API key into TILL_API_KEY.")
        }
        return try await LocalService(reading: data, accepting: accepted.origins)
    }

    /// The user as a service knows it; nil if a token names the user.
    func named(_ user: User) -> User? {
        server != nil && Self.variable("TILL_TOKEN") != nil ? nil : user
    }

    private static func variable(_ name: String) -> String? {
        ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Passes `body` a user's connection to the running service, or else to one of this process.
    ///
    /// - Parameter local: Opens the service of this process; not called if a running service was named.
    func withService<Value: Sendable>(
        for user: User,
        or local: () async throws -> LocalService,
        _ body: @Sendable @escaping (any ServiceConnection) async throws -> Value
    ) async throws -> Value {
        if let connection = try connection(for: user) { return try await body(connection) }
        return try await local().run(for: user, body)
    }
}
