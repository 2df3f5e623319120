import AppStore
import ArgumentParser
import Foundation
import HTTPSupport
import Proofs

/// The option that names the issuer of a user.
struct IssuerOption: ParsableArguments {
    @Option(help: "The issuer of the user: customer for the ids of apps (default: the back end names the user).")
    var issuer: String?

    func validate() throws { try Self.validate(issuer) }

    /// - Throws: `ValidationError` for the empty issuer, which names the users of the back end.
    static func validate(_ issuer: String?) throws {
        guard issuer?.isEmpty != true else {
            throw ValidationError("--issuer cannot be empty. Leave it out for a user of the back end.")
        }
    }

    /// The path of a user's resource.
    ///
    /// - Parameters:
    ///   - resource: The path below that of the user, such as `/grants`.
    ///   - query: The other parameters, such as `limit=9`.
    func path(of user: User, _ resource: String, query: String...) -> String {
        let parameters = query + (issuer.map { ["issuer=" + HTTPServiceConnection.segment($0)] } ?? [])
        return HTTPServiceConnection.path(of: user) + resource
            + (parameters.isEmpty ? "" : "?" + parameters.joined(separator: "&"))
    }
}

/// The address of a server: a scheme, a host and perhaps a port.
struct ServerAddress: ExpressibleByArgument {
    /// The form of an address that a setting accepts.
    static let expected = "an https address without a path; http is for this machine's own"

    let url: URL

    init?(argument: String) {
        let text = argument.hasSuffix("/") ? String(argument.dropLast()) : argument
        guard let url = URL(string: text), let scheme = url.scheme, ["http", "https"].contains(scheme),
            let host = url.host(), !host.isEmpty, url.path.isEmpty, url.query == nil, url.user == nil
        else { return nil }
        self.url = url
    }

    /// True if nobody on the network can read a credential that is sent to the address.
    var isConfidential: Bool { url.scheme == "https" || isLoopback }

    /// True if the host is `localhost`, `::1` or in 127.0.0.0/8.
    private var isLoopback: Bool {
        guard let host = url.host()?.lowercased() else { return false }
        if ["localhost", "::1", "[::1]"].contains(host) { return true }
        // In network byte order: the first byte is the network's.
        var address = in_addr()
        guard inet_pton(AF_INET, host, &address) == 1 else { return false }
        return withUnsafeBytes(of: address) { $0.first == 127 }
    }
}

/// The service that a command calls: its own, or a running one.
struct ServerOptions: ParsableArguments {
    /// The largest file of root certificates, in bytes. The roots of a whole operating system have some 300 KB.
    private static let maximumCertificates = 4 << 20

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
    /// - Throws: `ValidationError` without a credential; `CommandError`.
    func client() throws -> ServiceClient? {
        guard let server else { return nil }
        switch (ProcessInfo.variable("TILL_API_KEY"), ProcessInfo.variable("TILL_TOKEN")) {
        case (let key?, nil): return try client(of: server, credential: key)
        case (nil, let token?): return try client(of: server, credential: token)
        case (nil, nil):
            throw ValidationError(
                "Put the service's API key into TILL_API_KEY (`till keys make` makes one), or a user's token into TILL_TOKEN."
            )
        case (_?, _?): throw ValidationError("TILL_API_KEY and TILL_TOKEN are both set. Unset one of them.")
        }
    }

    private func client(of server: ServerAddress, credential: String) throws(CommandError) -> ServiceClient {
        guard let caFile else { return ServiceClient(url: server.url, credential: credential) }
        return ServiceClient(url: server.url, credential: credential, trusting: try Self.roots(in: caFile))
    }

    /// The root certificates of a PEM file.
    private static func roots(in path: String) throws(CommandError) -> AdditionalRoots {
        let data: Data?
        do {
            data = try FileHandle(forReadingFrom: URL(filePath: path)).read(upToCount: maximumCertificates + 1)
        } catch {
            throw CommandError(
                "fileUnreadable",
                "\"\(path)\" of --ca-file cannot be read. Check that it is a file and that you may read it.")
        }
        guard let data, data.count <= maximumCertificates, let roots = AdditionalRoots(pem: [UInt8](data)) else {
            throw CommandError(
                "certificateFileInvalid",
                "\"\(path)\" of --ca-file has no valid certificate. Name a PEM file with \"-----BEGIN CERTIFICATE-----\"."
            )
        }
        return roots
    }

    /// A user's connection to the running service; nil if none was named.
    ///
    /// - Throws: `ValidationError` without a credential.
    func connection(for user: User) throws -> HTTPServiceConnection? {
        try client().map { HTTPServiceConnection(client: $0, user: named(user)) }
    }

    /// The user as a service knows it; nil if a token names the user.
    func named(_ user: User) -> User? {
        server != nil && ProcessInfo.variable("TILL_TOKEN") != nil ? nil : user
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

/// The options of a command about a user, for which a running service answers, or the service of this process over the ledger.
struct CallOptions: ParsableArguments {
    @OptionGroup var accepted: AcceptOption

    @OptionGroup var service: ServerOptions

    @OptionGroup var common: CommonOptions

    /// The service of this process, with the ledger in the data directory.
    ///
    /// - Throws: `ValidationError` if `TILL_LEDGER` names another ledger.
    func localService() async throws -> LocalService {
        guard ProcessInfo.variable("TILL_LEDGER") == nil else {
            throw ValidationError(
                "TILL_LEDGER names a database, which this command uses through a running service alone. Name the service with "
                    + "--server, and put its API key into TILL_API_KEY.")
        }
        return try await LocalService(reading: common.dataDirectory, accepting: accepted.origins)
    }
}

/// A command about a user.
protocol ServiceCaller: Command {
    var call: CallOptions { get }
}

extension ServiceCaller {
    var common: CommonOptions { call.common }

    /// Passes `body` a client of the running service, or else of one of this process.
    func withClient<Value: Sendable>(
        _ body: @Sendable @escaping (ServiceClient) async throws -> Value
    ) async throws -> Value {
        if let client = try call.service.client() { return try await body(client) }
        let local = try await call.localService()
        // Items may have ended since a service last ran.
        try await local.recordDueStates()
        return try await local.withClient(body)
    }
}

extension ServiceClient {
    /// The elements of a list, from all its pages.
    ///
    /// - Parameters:
    ///   - limit: The largest number of elements.
    ///   - page: Returns the page of a size after a cursor.
    static func elements<Element>(
        upTo limit: Int = .max, _ page: (_ size: Int, _ cursor: String?) async throws -> List<Element>
    ) async throws -> [Element] {
        var (elements, cursor): ([Element], String?) = ([], nil)
        repeat {
            let page = try await page(min(100, limit - elements.count), cursor)
            elements += page.elements
            cursor = page.nextCursor
        } while cursor != nil && elements.count < limit
        return elements
    }
}

/// An answer of the service: the fields that a command reads, and the whole for `--json`.
@dynamicMemberLookup
struct Answered<Fields: Decodable & Sendable>: Codable, Sendable {
    private let fields: Fields
    private let json: JSONContent

    init(from decoder: any Decoder) throws {
        fields = try Fields(from: decoder)
        json = try JSONContent(from: decoder)
    }

    func encode(to encoder: any Encoder) throws {
        try json.encode(to: encoder)
    }

    subscript<Value>(dynamicMember path: KeyPath<Fields, Value>) -> Value { fields[keyPath: path] }
}

extension Answered: Listed where Fields: Listed {
    static var listName: String { Fields.listName }
}
