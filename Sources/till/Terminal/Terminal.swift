import AppStore
import ArgumentParser
import Foundation
import HTTPSupport
import Proofs
import Synchronization
import Vocabulary

/// The output of a command: its result on standard output, its error on standard error.
///
/// Nothing else in the program writes there but the log. So no command can forget the escapes of `TerminalText`.
struct Terminal: Sendable {
    let isJSON: Bool

    /// True if a write to standard output has failed. The process has one standard output, so the flag is global.
    private static let outputFailed = Atomic(false)

    /// Prints a line for a person, unless the command prints JSON.
    func line(_ text: String) {
        guard !isJSON else { return }
        output(text, as: .line)
    }

    /// Prints a value as JSON for a person, unless the command prints JSON.
    func document(_ value: some Encodable) throws { page(try Self.text(value), as: .json) }

    /// Prints a text of several lines, unless the command prints JSON.
    func page(_ text: String, as form: TerminalText) {
        guard !isJSON else { return }
        output(text, as: form)
    }

    /// Prints the command's result as JSON, unless the command prints text.
    func json(_ value: some Encodable) throws {
        if isJSON { output(try Self.text(value), as: .json) }
    }

    private static func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    /// Prints the command's result as a JSON object, unless the command prints text.
    func report(_ report: Report) throws { try json(report) }

    /// Prints the command's result: a line for a person, or JSON.
    func result(_ text: String, _ value: some Encodable) throws {
        line(text)
        try json(value)
    }

    /// Prints rows in columns, under a header. A cell without a text shows a hyphen.
    ///
    /// - Parameter nothing: The line instead of a table without rows; nil to print the header alone.
    func table(_ header: [String], _ rows: [[String?]], orElse nothing: String? = nil) {
        if let nothing, rows.isEmpty { return line(nothing) }
        TextTable(header: header, rows.map { $0.map { $0 ?? "-" } }).lines.forEach(line)
    }

    /// Prints the elements of a list as rows under a header, or the list as JSON.
    func list<Element: Encodable & Listed>(
        _ header: [String], _ elements: [Element], orElse nothing: String? = nil, row: (Element) -> [String?]
    ) throws {
        table(header, elements.map(row), orElse: nothing)
        try json(List(elements))
    }

    /// Prints the number of rows that were written or read, with their file.
    ///
    /// - Parameter relation: The word between: "in", "from".
    func rows(_ rows: Int, _ relation: String, _ file: URL) throws {
        line("\(rows) rows \(relation) \(file.path)")
        try report(["file": file.path, "rows": rows])
    }

    /// Prints a remark on standard error.
    func note(_ text: String) {
        errorLine("till: \(text)")
    }

    func errorLine(_ line: String) { errorPage(line.shown(as: .line)) }

    /// Prints a message of several lines on standard error.
    func errorPage(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data("\(text.shown(as: .lines))\n".utf8))
    }

    /// Prints the reason of a failure, and ends the command.
    ///
    /// - Parameter status: `validationFailure` for a wrong value.
    func fail(code: String, message: String, status: ExitCode = .failure) throws -> Never {
        try json(["code": code, "message": message])
        try end(message, status: status)
    }

    /// Ends a command that has printed its result, with a reason.
    func end(_ message: String, status: ExitCode = .failure) throws -> Never {
        note(message)
        throw status
    }

    /// Ends the command with status 1 if its result could not be written, for instance to a full disk.
    func finish() throws {
        guard Self.outputFailed.load(ordering: .relaxed) else { return }
        note("The result could not be written: check the disk that standard output goes to.")
        throw ExitCode(1)
    }

    /// Copies bytes of a file to standard output: unchanged into a file or a pipe, and escaped onto a terminal.
    ///
    /// A reader that closes the pipe has enough: the process ends, and the rest is not made.
    static func copy(_ bytes: Data) throws {
        var bytes = bytes
        if isatty(STDOUT_FILENO) == 1 {
            let text = String(decoding: bytes, as: UTF8.self).replacing("\r\n", with: "\n")
            bytes = Data(text.shown(as: .lines).utf8)
        }
        do { try FileHandle.standardOutput.write(contentsOf: bytes) } catch {
            guard errno == EPIPE else { throw error }
            exit(EXIT_SUCCESS)
        }
    }

    /// Writes without a buffer, so that the output is complete even if the process is killed next.
    private func output(_ text: String, as form: TerminalText) {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data((text.shown(as: form) + "\n").utf8))
        } catch {
            // A reader that closes the pipe early is no failure.
            if errno != EPIPE { Self.outputFailed.store(true, ordering: .relaxed) }
        }
    }
}

/// Long work. A terminal shows its name and its duration from the third second on, until its end.
final class Progress: Sendable {
    private static let patience = Duration.seconds(2)
    private static let interval = Duration.seconds(1)

    private struct State {
        var isShown = false
        var isEnded = false
    }

    private let state = Mutex(State())

    /// - Parameter name: A sentence without its end, such as "Checking the ledger".
    init(_ name: String) {
        guard isatty(STDERR_FILENO) == 1 else { return }
        let start = ContinuousClock.now
        Task { [weak self] in
            try await Task.sleep(for: Self.patience)
            while self?.show("\(name) … \((ContinuousClock.now - start).components.seconds) s") == true {
                try await Task.sleep(for: Self.interval)
            }
        }
    }

    // After an error.
    deinit { end() }

    /// Clears the line, so that the result can be printed.
    func end() {
        state.withLock { state in
            if state.isShown, !state.isEnded { Self.replaceLine(by: "") }
            state.isEnded = true
        }
    }

    /// - Returns: False after the end.
    private func show(_ text: String) -> Bool {
        state.withLock { state in
            guard !state.isEnded else { return false }
            state.isShown = true
            Self.replaceLine(by: text)
            return true
        }
    }

    private static func replaceLine(by text: String) {
        try? FileHandle.standardError.write(contentsOf: Data("\r\(text)\u{1B}[K".utf8))
    }
}

/// `1 sale`, `2 sales`.
func counted(_ count: some BinaryInteger, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

/// A JSON object in the output of commands. A member without a value is left out.
struct Report: Encodable, ExpressibleByDictionaryLiteral, Sendable {
    private let members: [(String, (any Encodable & Sendable)?)]

    init(dictionaryLiteral members: (String, (any Encodable & Sendable)?)...) { self.members = members }

    init(_ members: [String: any Encodable & Sendable]) {
        self.members = members.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: MemberName.self)
        for case (let name, let value?) in members {
            try container.encode(value, forKey: MemberName(stringValue: name))
        }
    }
}

extension PaymentTransaction {
    /// The transaction of the payment queue in the output of commands.
    ///
    /// - Parameter effect: The effect of the payment; nil to leave it out.
    func report(user: String, effect: PurchaseEffect? = nil) -> Report {
        [
            // The number that `till store approve`, `decline` and `resolve` take.
            "id": identifier, "user": user, "productId": payment.productIdentifier, "quantity": payment.quantity,
            "state": state, "error": error?.name, "transactionId": purchase?.transactionIdentifier,
            "originalTransactionId": purchase?.originalTransactionIdentifier, "effect": effect?.name,
            // Milliunits of the currency.
            "price": effect?.price?.milliunits, "currency": effect?.price?.currency,
            // The product after the next renewal.
            "nextProductId": effect?.nextProductIdentifier, "renewalDate": effect?.renewalDate?.rfc3339,
        ]
    }
}

extension Terminal {
    /// Prints a line for each item, with its words, and for each balance that is not 0.
    ///
    /// - Parameters:
    ///   - balances: Nil if they are unknown.
    ///   - user: Nil for the user of the token.
    func owned(_ items: [(item: Item, words: String)], _ balances: [Credit]?, by user: User?) {
        let name = user?.name ?? "The token's user"
        let credits = (balances ?? []).filter { $0.amount > 0 }
        let nothing = balances == nil ? "no items" : "nothing"
        line(items.isEmpty && credits.isEmpty ? "\(name) owns \(nothing)." : "\(name) owns:")
        for (item, words) in items { line("  \(item)  \(words)") }
        for credit in credits { line("  \(credit.amount) of the balance \(credit.balance)") }
    }
}

/// Prints the steps of a purchase as they happen, and kills the process after one of them.
final class StepReporter: Sendable {
    private let terminal: Terminal
    /// The name of the step after which the process kills itself.
    private let fatalStep: String?
    private let effect: @Sendable (Int64) -> String?
    /// The number of the transaction this launch of the app began; none until its payment is added.
    private let own = Mutex<Int64?>(nil)
    /// The refusals so far, by the transaction's number.
    private let refusals = Mutex<[Int64: ServiceRefusal]>([:])

    /// - Parameter effect: The effect of a payment by its number, in words; nil for one that sold nothing.
    init(
        terminal: Terminal,
        fatalStep: String? = nil,
        effect: @escaping @Sendable (Int64) -> String? = { _ in nil }
    ) {
        self.terminal = terminal
        self.fatalStep = fatalStep
        self.effect = effect
    }

    /// The names of all steps at which the app can die.
    static let stepNames = [
        "paymentAdded", "deferred", "purchased", "failed", "proofObtained", "redeemed", "refused", "finished",
    ]

    /// The transactions that the service refused, with the reasons.
    var refused: [Int64: ServiceRefusal] { refusals.withLock { $0 } }

    func report(_ step: DeviceStep) {
        terminal.line(text(step))
        let identifier = step.transaction.identifier
        switch step {
        case .paymentAdded: own.withLock { $0 = identifier }
        case .refused(_, let refusal): refusals.withLock { $0[identifier] = refusal }
        default: break
        }
        if step.name == fatalStep, own.withLock({ $0 }) == identifier { kill(getpid(), SIGKILL) }
    }

    private func text(_ step: DeviceStep) -> String {
        let transaction = step.transaction
        let product = transaction.payment.productIdentifier
        let (name, details): (String, [String?]) =
            switch step {
            case .paymentAdded: ("purchasing", [product])
            case .updated:
                (transaction.state.rawValue, [product, effect(transaction.identifier), transaction.error?.name])
            case .proofObtained: ("proof read", [])
            case .redeemed(_, let redemption): ("redeemed", [redemption.outcome.rawValue])
            case .refused(_, let refusal): ("refused", [refusal.code])
            case .finished: ("finished", [])
            }
        let number = name + String(repeating: " ", count: max(0, 12 - name.count)) + "#\(transaction.identifier)"
        return ([number] + details.compactMap(\.self)).joined(separator: "  ")
    }
}

/// Rows of text in columns, for a terminal.
struct TextTable {
    private let rows: [[String]]

    init(header: [String], _ rows: [[String]]) {
        // An escaped cell is wider.
        self.rows = ([header] + rows).map { $0.map { $0.shown(as: .line) } }
    }

    /// The lines. Each column is as wide as its widest cell, with two spaces between columns.
    var lines: [String] {
        let widths = (rows.first ?? []).indices.map { column in rows.map { Self.width($0[column]) }.max() ?? 0 }
        return rows.map { row in
            var line = ""
            for (cell, width) in zip(row.dropLast(), widths) {
                line += cell + String(repeating: " ", count: width - Self.width(cell) + 2)
            }
            return line + (row.last ?? "")
        }
    }

    /// The text in at most 32 characters; a longer one ends with an ellipsis.
    static func shortened(_ text: String) -> String {
        text.count > 32 ? text.prefix(31) + "…" : text
    }

    /// The width of a text in terminal cells. Wide characters such as Hangul take two (Unicode Standard Annex 11).
    private static func width(_ text: String) -> Int {
        text.unicodeScalars.reduce(0) { width, scalar in
            switch scalar.value {
            case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE4F, 0xFF00...0xFF60,
                0xFFE0...0xFFE6, 0x1F300...0x1FAFF:
                width + 2
            default: width + 1
            }
        }
    }
}
