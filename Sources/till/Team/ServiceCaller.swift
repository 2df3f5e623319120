import AppStore
import ArgumentParser
import Catalog
import Foundation
import HTTPSupport
import Ledger
import Proofs
import Service
import Vocabulary

/// The option that, with a user's name, names a user.
struct UserNaming: ParsableArguments {
    @Option(help: .issuer)
    var issuer: String?

    func validate() throws { try UserCallOptions.validate(issuer: issuer) }
}

/// The options of a command about a user: the issuer of the user's name, and the service that answers.
struct UserCallOptions: ParsableArguments {
    @OptionGroup var naming: UserNaming

    @OptionGroup var call: CallOptions

    var issuer: String? { naming.issuer }

    /// - Parameter option: The option with the issuer.
    /// - Throws: `ValidationError` for the empty issuer, which names the users of the back end.
    static func validate(issuer: String?, option: String = "--issuer") throws {
        try require(issuer?.isEmpty != true, "\(option) cannot be empty. Leave it out for a user of the back end.")
    }

    /// The path of a user's resource.
    ///
    /// - Parameter resource: The path below that of the user, such as `/grants`.
    func path(of user: User, _ resource: String) -> String {
        ServiceClient.path(HTTPServiceConnection.path(of: user) + resource, [("issuer", issuer)])
    }
}

/// The option of the commands that list what a service has.
struct ListLimit: ParsableArguments {
    @Option(help: "The number of rows, from 1 to 1000.")
    var limit = 50

    func validate() throws { try Self.validate(limit) }

    static func validate(_ limit: Int) throws {
        try require((1...1000).contains(limit), "--limit must be a number from 1 to 1000.")
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
        help: .value(
            "url",
            "The address of a running service. Put its API key into $TILL_API_KEY, or a user's token into $TILL_TOKEN.")
    )
    var server: ServerAddress?

    @Flag(help: "Send the credential to --server unencrypted, in a network you trust.")
    var insecure = false

    @Option(
        help: .value(
            "file",
            "A PEM file of root certificates that the connection to --server trusts, besides those of the system."))
    var caFile: String?

    func validate() throws {
        guard let server else {
            try require(!insecure, "--insecure needs --server.")
            try require(caFile == nil, "--ca-file needs --server.")
            return
        }
        try require(
            caFile == nil || server.url.scheme == "https",
            "--ca-file needs an https address; --server is \"\(server.url.absoluteString)\".")
        try require(
            insecure || server.isConfidential,
            "\"\(server.url.absoluteString)\" would send the credential unencrypted. Use https, or add --insecure "
                + "for a network you trust.")
    }

    /// The client of the running service; nil if none was named.
    ///
    /// - Throws: `ValidationError` without a credential; `CommandError`.
    func client() throws -> ServiceClient? {
        guard let server else { return nil }
        let (key, token) = (ProcessInfo.variable("TILL_API_KEY"), ProcessInfo.variable("TILL_TOKEN"))
        try require(key == nil || token == nil, "TILL_API_KEY and TILL_TOKEN are both set. Unset one of them.")
        guard let credential = key ?? token else {
            throw ValidationError(
                "Put the service's API key into TILL_API_KEY (`till keys make` makes one), or a user's token into TILL_TOKEN."
            )
        }
        return ServiceClient(url: server.url, credential: credential, trusting: try caFile.map(Self.roots))
    }

    /// The root certificates of a PEM file.
    private static func roots(in path: String) throws(CommandError) -> AdditionalRoots {
        guard let bytes = NamedFile.bytes(of: URL(filePath: path), upTo: maximumCertificates) else {
            throw CommandError("fileUnreadable", NamedFile.fault(of: path, namedBy: "--ca-file"))
        }
        guard let roots = AdditionalRoots(pem: bytes) else {
            throw CommandError(
                "certificateFileInvalid",
                "\"\(path)\" of --ca-file has no valid certificate. Name a PEM file with \"-----BEGIN CERTIFICATE-----\"."
            )
        }
        return roots
    }

    /// The user as a service knows it; nil if a token names the user.
    func named(_ user: User) -> User? {
        server != nil && ProcessInfo.variable("TILL_TOKEN") != nil ? nil : user
    }

    /// Passes `body` a client of the running service, or else of one of this process.
    ///
    /// - Parameter local: Opens the service of this process; not called if a running service was named.
    func withClient<Value: Sendable>(
        or local: () async throws -> LocalService,
        _ body: @Sendable @escaping (ServiceClient) async throws -> Value
    ) async throws -> Value {
        if let client = try client() { return try await body(client) }
        return try await local().withClient(body)
    }

    /// The same with a user's connection.
    func withService<Value: Sendable>(
        for user: User,
        issuer: String? = nil,
        or local: () async throws -> LocalService,
        _ body: @Sendable @escaping (HTTPServiceConnection) async throws -> Value
    ) async throws -> Value {
        let user = named(user)
        return try await withClient(or: local) {
            try await body(HTTPServiceConnection(client: $0, user: user, issuer: issuer))
        }
    }
}

/// The options of a command about a user, for which a running service answers, or the service of this process over the ledger.
struct CallOptions: ParsableArguments {
    @Option(
        help: .value(
            "origin",
            "The accepted origins (of the ledger without --server; may be repeated; default: those of the service that ran last)."
        ))
    var accept: [Origin] = []

    @OptionGroup var service: ServerOptions

    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard let (production, free) = Set(accept).freeBesideProduction else { return }
        throw ValidationError(
            "--accept names \(production.rawValue) and \(free.rawValue), where purchases cost nothing. Leave out one of them."
        )
    }

    /// The service of this process, with the ledger in the data directory. What is unknown of the configuration is told.
    ///
    /// - Parameters:
    ///   - features: The features whose tables the command creates.
    /// - Throws: `ValidationError` if `TILL_LEDGER` names another ledger; `CommandError` if an explanation would be a guess.
    func localService(
        using features: [LedgerFeature] = [], need: ConfigurationNeed = .answer
    ) async throws -> LocalService {
        try require(
            ProcessInfo.variable("TILL_LEDGER") == nil,
            "TILL_LEDGER names a database, which this command uses through a running service alone. Name the service with "
                + "--server, and put its API key into TILL_API_KEY.")
        let data = common.dataDirectory
        try data.requireLedger()
        let kept = try await LedgerPlace.file(data.ledgerFile).keptConfiguration()
        let known: KnownConfiguration
        do { known = try KnownConfiguration(kept, common, accepting: accept) } catch {
            // The answer depends on no catalog, and the user of this command may read none.
            guard need == .none else { throw error }
            known = KnownConfiguration(of: Apps(App(try CatalogSource.sample.catalog())))
        }
        if need == .explanation, kept == nil, accept.isEmpty, let gap = known.gap {
            throw CommandError("configurationUnknown", gap)
        }
        if need != .none, let note = known.note { Terminal(isJSON: common.json).note(note) }
        return try await LocalService(reading: data, known, using: features)
    }
}

/// The dependence of a command's answer on what the service is configured with.
enum ConfigurationNeed {
    case none
    /// The answer has the names of the catalog, and counts the purchases of accepted origins.
    case answer
    /// The answer states a reason, which another configuration makes wrong.
    case explanation
}

protocol ServiceCaller: Command {
    var call: CallOptions { get }
    /// The features that the command needs in the ledger of this machine, whatever a service there needs.
    var features: [LedgerFeature] { get }
    var need: ConfigurationNeed { get }
}

extension ServiceCaller {
    var common: CommonOptions { call.common }

    var features: [LedgerFeature] { [] }

    var need: ConfigurationNeed { .answer }

    /// Passes `body` a client of the running service, or else of one of this process.
    func withClient<Value: Sendable>(
        _ body: @Sendable @escaping (ServiceClient) async throws -> Value
    ) async throws -> Value {
        let localService = {
            let local = try await call.localService(using: features, need: need)
            // Items may have ended since a service last ran.
            try await local.recordDueStates()
            return local
        }
        return try await call.service.withClient(or: localService, body)
    }

    func get<Answer: Decodable & Sendable>(_ path: String) async throws -> Answer {
        try await withClient { try await $0.get(path) }
    }

    func post<Answer: Decodable & Sendable>(
        _ path: String, _ body: some Encodable & Sendable = Report()
    ) async throws -> Answer {
        try await withClient { try await $0.post(path, body) }
    }

    func put<Answer: Decodable & Sendable>(
        _ path: String, _ body: some Encodable & Sendable = Report()
    ) async throws -> Answer {
        try await withClient { try await $0.put(path, body) }
    }

    func delete<Answer: Decodable & Sendable>(_ path: String) async throws -> Answer {
        try await withClient { try await $0.delete(path) }
    }

    /// The elements of a list of the service, from its pages.
    ///
    /// - Parameters:
    ///   - query: The parameters besides those of the page.
    ///   - user: The user whose list it is; nil for another list.
    func elements<Element: Decodable & Listed & Sendable>(
        of path: String, _ query: [(String, String?)], upTo limit: ListLimit, about user: User? = nil
    ) async throws -> [Answered<Element>] {
        let limit = limit.limit
        let (elements, unknown) = try await withClient { client in
            var unknown: UnknownUser?
            let elements = try await ServiceClient.elements(upTo: limit) { size, cursor in
                let page: List<Answered<Element>> = try await client.get(
                    ServiceClient.path(path, query + [("pageSize", String(size)), ("cursor", cursor)]))
                unknown = page.unknownUser
                return page
            }
            return (elements, unknown)
        }
        if let user { terminal.note(unknown, about: user) }
        return elements
    }
}

/// A command about a user, or with the option to be about one.
protocol UserCaller: ServiceCaller {
    var userCall: UserCallOptions { get }
}

extension UserCaller {
    var call: CallOptions { userCall.call }
}

extension ServiceClient {
    /// A path with its query. A parameter without a value is left out.
    static func path(_ path: String, _ query: [(name: String, value: String?)]) -> String {
        let parameters = query.compactMap { name, value in
            value.map { "\(name)=\(HTTPServiceConnection.segment($0))" }
        }
        return parameters.isEmpty ? path : "\(path)?\(parameters.joined(separator: "&"))"
    }

    private static let maximumPages = 100_000

    /// The elements of a list, from all its pages.
    ///
    /// - Parameters:
    ///   - limit: The largest number of elements.
    ///   - page: Returns the page of a size after a cursor.
    /// - Throws: `ServiceUnreachable` for a list that leads back to a page, or has no end.
    static func elements<Element>(
        upTo limit: Int = .max, _ page: (_ size: Int, _ cursor: String?) async throws -> List<Element>
    ) async throws -> [Element] {
        var (elements, pages, cursor) = ([Element](), ListedPages(upTo: maximumPages), String?.none)
        repeat {
            let page = try await page(min(100, limit - elements.count), cursor)
            elements += page.elements
            do { cursor = try pages.next(page.nextCursor) } catch {
                throw ServiceUnreachable(reason: "its list has no end")
            }
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

extension UserCallOptions {
    /// The user of a command, with the issuer.
    func named(_ user: User) -> User { User(issuer: issuer ?? "", name: user.name) ?? user }
}

extension UnknownUser {
    /// The statement of a command about the user that it was given.
    func sentence(about user: User) -> String { sentence(about: user, option: "--issuer") }
}

extension Terminal {
    /// Says that the service does not know the user of a command.
    ///
    /// - Parameter unknown: Nil for a known user.
    func note(_ unknown: UnknownUser?, about user: User) {
        if let unknown { note(unknown.sentence(about: user)) }
    }
}
