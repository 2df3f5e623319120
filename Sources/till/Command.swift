import AppStore
import ArgumentParser
import Catalog
import Features
import Foundation
import HTTPSupport
import Ledger
import Proofs
import Vocabulary

/// A command of Till. It prints an error as one sentence and, with `--json`, as an object, too.
protocol Command: AsyncParsableCommand {
    var common: CommonOptions { get }

    func perform() async throws
}

extension Command {
    var terminal: Terminal { Terminal(isJSON: common.json) }

    func run() async throws {
        do {
            try await perform()
            try terminal.finish()
        } catch let exit as ExitCode {
            throw exit
        } catch let error as ValidationError {
            throw error
        } catch StoreError.productNotFound(let identifier) {
            let error = CommandError.productUnknown(identifier, among: common.productsOfStore)
            try terminal.fail(code: error.code, message: error.message)
        } catch let error as ConfigurationError where error.isWrongValue {
            try terminal.fail(code: error.code, message: error.message, status: .validationFailure)
        } catch let error as any CodedError where error.isOfRequest {
            try terminal.fail(code: error.code, message: error.words, status: .validationFailure)
        } catch let error as any CodedError {
            try terminal.fail(code: error.code, message: error.message)
        } catch {
            try terminal.fail(code: "failed", message: "\(error)")
        }
    }

    /// Writes a key into a new file.
    ///
    /// - Parameter name: The name of the key in the message of the error.
    static func write(_ key: [UInt8], to file: URL, called name: String) throws(CommandError) {
        do { try PrivateFile.create(key, at: file) } catch {
            throw CommandError(
                "storeAppInvalid",
                "\(name) cannot be written to \(file.path): name a file that is not there with --out.")
        }
    }
}

/// The refusals of a value that no request may have.
private let requestCodes = [
    "attributeNameInvalid", "attributeValueInvalid", "bodyInvalid", "figureTimeInvalid", "parameterInvalid",
    "webhookURLInvalid",
]

extension CodedError {
    /// True if the request has a value that no request may have.
    fileprivate var isOfRequest: Bool { requestCodes.contains(code) }

    /// The message in the words of the command line: `--reason` for the field `/reason`.
    fileprivate var words: String {
        message.replacing(/^The (?:query parameter |field \/)(\w+)/) { $0.1 == "amount" ? "The amount" : "--\($0.1)" }
    }
}

/// Ends the command with its usage unless an argument meets a condition.
func require(_ condition: Bool, _ message: @autoclosure () -> String) throws(ValidationError) {
    if !condition { throw ValidationError(message()) }
}

/// Ends the command with its usage unless a number can be a port.
func requirePort(_ port: Int, _ option: String = "--port") throws(ValidationError) {
    try require((0...65_535).contains(port), "\(option) must be a number from 0 to 65535; it is \"\(port)\".")
}

/// Ends the command with its usage unless a text can be a bundle identifier.
func requireBundleIdentifier(_ text: String) throws(ValidationError) {
    try require(
        text.count <= 155 && text.wholeMatch(of: /[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*/) != nil,
        "\"\(text.prefix(155))\" is not a bundle identifier. Use letters, digits, hyphens and dots, as in com.example.app."
    )
}

extension CommandConfiguration {
    /// A command with its help.
    ///
    /// - Parameters:
    ///   - explanation: The sentences before the examples; empty for none.
    ///   - examples: Lines that can be copied as they stand. A line that continues the one before it is indented.
    init(_ name: String, _ abstract: String, _ explanation: String = "", examples: String) {
        let lines = examples.split(separator: "\n")
        let heading = lines.count { !$0.hasPrefix(" ") } == 1 ? "Example:" : "Examples:"
        let section = ([heading] + lines.map { "  \($0)" }).joined(separator: "\n")
        self.init(
            commandName: name, abstract: abstract,
            discussion: explanation.isEmpty ? section : explanation + "\n\n" + section)
    }
}

extension ArgumentHelp {
    static let environment: ArgumentHelp = "The environment of the purchases (production or sandbox)."
    static let json: ArgumentHelp = "Print JSON."
    static let issuer: ArgumentHelp =
        "The issuer of the user: customer for the ids of apps (default: the back end names the user)."
    static let out = out("it must not exist")
    static let reason: ArgumentHelp = "The reason (in your own words; the audit log keeps it)."
    static let user: ArgumentHelp = "The user: a name of 1 to 128 bytes, without spaces or control characters."

    // One name of an option has one meaning. What is special to a command stands in parentheses.
    static func account(_ note: String = "") -> ArgumentHelp {
        noted("account", "The customer's account at the store", note)
    }

    static func bundleIdentifier(_ note: String = "") -> ArgumentHelp {
        noted("bundle-id", "The bundle identifier of the app", note)
    }

    static func end(_ note: String) -> ArgumentHelp { noted("date", "The end", note) }

    static func out(_ note: String) -> ArgumentHelp { noted("file", "The file to write", note) }

    static func package(_ note: String) -> ArgumentHelp {
        noted("name", "The package name of the app on Google Play", note)
    }

    static func product(_ note: String) -> ArgumentHelp { noted("product-id", "The identifier of a product", note) }

    static func store(_ note: String) -> ArgumentHelp {
        noted("store", "The store: app_store or play_store", note)
    }

    private static func noted(_ value: String, _ abstract: String, _ note: String) -> ArgumentHelp {
        .value(value, abstract + (note.isEmpty ? "." : " (\(note))."))
    }

    /// The help of an argument whose value has a name of its own.
    static func value(_ name: String, _ abstract: String) -> ArgumentHelp {
        ArgumentHelp(abstract, valueName: name)
    }
}

/// A value of the command line by its name.
public protocol NamedArgument: ExpressibleByArgument {
    init?(name: String)
}

extension NamedArgument {
    public init?(argument: String) { self.init(name: argument) }
}

extension NamedArgument where Self: NamedCase & RawRepresentable, RawValue: ExpressibleByArgument {
    public static var allValueStrings: [String] { allCases.map(\.name) }

    // Otherwise the help would explain each number by its name.
    public static var allValueDescriptions: [String: String] { [:] }

    public var defaultValueDescription: String { name }

    public init?(argument: String) {
        guard Self.allValueStrings.contains(argument) else { return nil }
        self.init(name: argument)
    }
}

extension ProcessInfo {
    /// The value of an environment variable. An empty variable is the same as none.
    static func variable(_ name: String) -> String? {
        processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }
}

protocol LedgerUser: Command {
    var ledger: LedgerOptions { get }
}

extension LedgerUser {
    var common: CommonOptions { ledger.common }

    /// The ledger of an earlier command or a service. It is neither created nor converted.
    func existingLedger() throws -> Ledger { try ledger.place().open(migrates: false) }

    /// The catalogs of the service's files, as the ledger's changes leave them.
    func administration(
        of ledger: Ledger, clock: any WallClock = SystemClock()
    ) async throws -> CatalogService {
        // No answer of these commands depends on the origins.
        let apps = try await knownConfiguration(of: ledger, accepting: Origin.allCases).apps
        return try await CatalogService(apps: apps, ledger: ledger, clock: clock)
    }
}

struct CommonOptions: ParsableArguments {
    @Flag(help: .json)
    var json = false

    @Option(name: .customLong("data"), help: "The data directory (default: $TILL_DATA, else .till).")
    var dataPath: String?

    @Option(
        name: .customLong("catalog"),
        help: .value(
            "folder",
            "The folder of the catalog (default: $TILL_CATALOG, else the one that the local stores have sold last, else the catalog that comes with Till)."
        ))
    var catalogPath: String?

    var dataDirectory: DataDirectory { DataDirectory(path: dataPath, catalogPath: catalogPath) }

    /// The local App Store, which has to exist.
    ///
    /// - Throws: `CommandError` if there is none; `PermissionDenied`.
    var existingStore: Store {
        get throws {
            try dataDirectory.requireStore()
            return try dataDirectory.store()
        }
    }

    /// The identifiers of the products that the store of the data directory sells; empty if it cannot be read.
    var productsOfStore: [String] {
        (try? StoreApp(of: dataDirectory))?.configuration.products.map(\.productIdentifier) ?? []
    }

    /// A command to type next, with the options that lead to the same data.
    ///
    /// - Parameter options: Options of the command besides these, such as that of the ledger.
    func hint(_ arguments: String..., options: [String] = []) -> String { hint(arguments, options: options) }

    func hint(_ arguments: [String], options: [String] = []) -> String {
        (["till"] + arguments + (dataPath.map { ["--data", $0] } ?? [])
            + (catalogPath.map { ["--catalog", $0] } ?? []) + options).map(Self.quoted).joined(separator: " ")
    }

    /// The argument as a shell reads it.
    static func quoted(_ argument: String) -> String {
        let isPlain = argument.unicodeScalars.allSatisfy { scalar in
            !scalar.isASCII || scalar.properties.isAlphabetic || "0123456789-_./@:".unicodeScalars.contains(scalar)
        }
        return isPlain ? argument : "'" + argument.replacing("'", with: #"'\''"#) + "'"
    }
}

/// The location of the ledger: a file in the data directory, or a PostgreSQL database.
enum LedgerPlace: CustomStringConvertible {
    case file(URL)
    case postgreSQL(PostgreSQLAddress)

    /// - Parameter address: Nil for the file.
    init(_ address: PostgreSQLAddress?, in data: DataDirectory) {
        self = address.map { .postgreSQL($0) } ?? .file(data.ledgerFile)
    }

    /// The path of the file, or the address of the database without its password.
    var description: String {
        switch self {
        case .file(let file): file.path
        case .postgreSQL(let address): address.description
        }
    }

    /// - Parameter migrates: True if missing tables and columns are added.
    func open(_ features: [LedgerFeature] = .all(), migrates: Bool = true) throws(StorageFault) -> Ledger {
        switch self {
        case .file(let file): try Ledger(file: file, features: features, migrates: migrates)
        case .postgreSQL(let address): try Ledger(address, features: features, migrates: migrates)
        }
    }

    func check() throws -> LedgerReport {
        switch self {
        case .file(let file): try LedgerFile(file, features: .all()).check()
        case .postgreSQL(let address): try Ledger(address.direct, features: .all(), migrates: false).check()
        }
    }

    /// - Parameter isNew: True if a missing ledger is created.
    func apiKeys(isNew: Bool = false) throws(StorageFault) -> APIKeys {
        try open(migrates: isNew).apiKeys(clock: SystemClock())
    }
}

struct LedgerOptions: ParsableArguments {
    @Option(
        help: .value(
            "url",
            "A PostgreSQL database as the ledger: postgres://user@host/database (default: $TILL_LEDGER, else a file in the data directory)."
        ))
    var ledger: String?

    @OptionGroup var common: CommonOptions

    /// The address of the PostgreSQL database; nil for a file.
    ///
    /// - Throws: `PostgreSQLAddressError`.
    var address: PostgreSQLAddress? {
        get throws {
            try (ledger?.isEmpty == false ? ledger : ProcessInfo.variable("TILL_LEDGER")).map {
                try PostgreSQLAddress($0)
            }
        }
    }

    /// The option of another command that leads to the same ledger, without a password; empty without `--ledger`.
    var options: [String] {
        guard let ledger, let address = try? PostgreSQLAddress(ledger) else { return [] }
        return ["--ledger", address.description]
    }

    /// - Parameter isNew: True if the command creates a missing ledger.
    /// - Throws: `CommandError` if there is none; `PermissionDenied`; `PostgreSQLAddressError`.
    func place(isNew: Bool = false) throws -> LedgerPlace {
        let data = common.dataDirectory
        let place = LedgerPlace(try address, in: data)
        guard case .file = place else { return place }
        if isNew { try data.prepareService() } else { try data.requireLedger() }
        return place
    }
}
