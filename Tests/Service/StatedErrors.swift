import Catalog
import Entitlements
import Features
import HTTPSupport
import Hummingbird
import Proofs
import Service
import TestSupport
import Vocabulary

/// What the sources state about each error code: its status, and whether the same request may succeed later.
struct StatedErrors {
    struct Statement: Hashable, Comparable {
        let status: Int
        let couldSucceedLater: Bool

        static func < (left: Self, right: Self) -> Bool {
            (left.status, left.couldSucceedLater ? 1 : 0) < (right.status, right.couldSucceedLater ? 1 : 0)
        }
    }

    /// The statements about each code.
    private(set) var byCode: [String: Set<Statement>] = [:]

    /// The names of statuses: those of `ErrorRule.Kind`, and those of HTTP types.
    private static let statuses = [
        "badRequest": 400, "unauthorized": 401, "forbidden": 403, "notFound": 404, "methodNotAllowed": 405,
        "conflict": 409, "preconditionFailed": 412, "tooLarge": 413, "contentTooLarge": 413,
        "unsupportedMediaType": 415, "unprocessable": 422, "unprocessableContent": 422, "tooManyRequests": 429,
        "failed": 500, "internalServerError": 500, "badGateway": 502, "unavailable": 503, "serviceUnavailable": 503,
    ]

    /// The statements of the service and of the local stores. Pages and commands alone have further codes.
    init() throws {
        let folders = [
            "AppStore", "Catalog", "Entitlements", "Features", "HTTPSupport", "Ledger", "PlayStore",
            "Service", "Vocabulary",
        ]
        let files = try folders.flatMap { try Project.files("Sources/\($0)", suffix: ".swift") }
        for file in files where !file.hasPrefix("Sources/Features/Team/") { read(try Project.text(file)) }
        for error in Self.instances {
            guard let problem = Problem(error) else { continue }
            add(problem.code, Statement(status: problem.status, couldSucceedLater: problem.couldSucceedLater))
        }
        // The sender of a notification, or of a proof to look up, is told that the service failed to ask.
        add("googlePlayTokenUnknown", Statement(status: 503, couldSucceedLater: true))
    }

    /// The errors whose code, status or repetition the source computes.
    private static let instances: [any Error] = {
        var errors: [any Error] = [
            ProofRefusal.tokenPending, CatalogError(file: "", reason: ""), HTTPError(.contentTooLarge),
            HTTPError(.badRequest), Problem.tokenInvalid(""), Problem.tokenInvalid("", couldSucceedLater: true),
        ]
        errors += ProofRefusal.Reason.allCases.map { ProofRefusal($0) }
        errors += Redemption.Result.refusals.map { RedemptionError.purchaseRefused($0) }
        errors += AccountError.allCases.map { $0 as any Error } + PasswordError.allCases.map { $0 as any Error }
        errors += CredentialError.allCases.map { $0 as any Error }
        for path in ["/var/till", "postgres://db/till"] {
            errors += StorageFault.Cause.allCases.map { StorageFault(cause: $0, path: path) }
        }
        errors += [401, 429, 500].map { ReconciliationError.refused(status: $0, code: nil) }
        return errors
    }()

    private mutating func add(_ code: String, _ statement: Statement) { byCode[code, default: []].insert(statement) }

    /// Reads the rules and the problems whose code, status and repetition are literals.
    private mutating func read(_ source: String) {
        let code = source.replacing(/(?m)^ *\/\/.*$/, with: "")
        let ruleOfCode = code.firstMatch(of: /ErrorRule\(\s*code, \.(\w+)/).flatMap { Self.statuses[String($0.1)] }
        for call in code.matches(of: /\b(ErrorRule|Problem|Self\.invalid)\(/) {
            let arguments = SwiftArguments(in: code[call.range.upperBound...])
            let text = arguments.labelled["code"] ?? arguments.unlabelled.first ?? ""
            guard let name = text.wholeMatch(of: /"([a-zA-Z]+)"/).map({ String($0.1) }) else { continue }
            var status = (arguments.labelled["status"] ?? arguments.unlabelled.dropFirst().first)
                .flatMap { $0.wholeMatch(of: /\.(\w+)/) }.flatMap { Self.statuses[String($0.1)] }
            if call.1 == "Self.invalid" { status = ruleOfCode }
            let later = arguments.labelled["mayRetry"] ?? arguments.labelled["couldSucceedLater"] ?? "false"
            guard let status, let couldSucceedLater = Bool(later) else { continue }
            add(name, Statement(status: status, couldSucceedLater: couldSucceedLater))
        }
    }
}

/// The arguments of a call in Swift source.
struct SwiftArguments {
    private(set) var labelled: [String: String] = [:]
    private(set) var unlabelled: [String] = []

    /// - Parameter source: The source after the opening parenthesis.
    init(in source: Substring) {
        var (scanner, start) = (Scanner(source), source.startIndex)
        var texts: [Substring] = []
        while let place = scanner.nextSeparator() {
            texts.append(source[start..<place])
            guard source[place] == "," else { break }
            start = source.index(after: place)
        }
        for text in texts {
            let text = text.replacing(/^\s+|\s+$/, with: "")
            if let match = text.wholeMatch(of: /(\w+):\s+([\s\S]*)/) {
                labelled[String(match.1)] = String(match.2)
            } else if !text.isEmpty {
                unlabelled.append(String(text))
            }
        }
    }

    /// A reader that skips texts and nested brackets.
    private struct Scanner {
        private let source: Substring
        private var index: Substring.Index

        init(_ source: Substring) {
            self.source = source
            index = source.startIndex
        }

        /// The next comma of the call, or its closing parenthesis; nil at the end of the source.
        mutating func nextSeparator() -> Substring.Index? {
            var depth = 0
            while index < source.endIndex {
                let place = index
                index = source.index(after: index)
                switch source[place] {
                case "\"": skipText()
                case "(", "[", "{": depth += 1
                case ")", "]", "}":
                    if depth == 0 { return place }
                    depth -= 1
                case ",": if depth == 0 { return place }
                default: break
                }
            }
            return nil
        }

        private mutating func skipText() {
            while index < source.endIndex {
                let character = source[index]
                index = source.index(after: index)
                if character == "\"" { return }
                guard character == "\\", index < source.endIndex else { continue }
                let escaped = source[index]
                index = source.index(after: index)
                if escaped == "(" { while let end = nextSeparator(), source[end] == "," {} }
            }
        }
    }
}
