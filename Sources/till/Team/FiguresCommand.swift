import AppStore
import ArgumentParser
import Entitlements
import Features
import Foundation
import HTTPSupport
import Proofs
import Service

struct FiguresCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "figures",
        abstract: "Print sales figures by day, week or month: units, revenue, subscriptions, trials, MRR and churn.",
        discussion: """
            Without a figure, the command lists the figures and their definitions. `till figures show --help` has the options. \
            The first call brings the sums of the ledger up to date, which takes a minute for a million transactions. \
            `till serve --figures` keeps them up to date.
            """,
        subcommands: [FiguresShow.self],
        defaultSubcommand: FiguresShow.self)
}

/// A command about the sums of sales. A running service answers, or one of this process over the ledger.
protocol FigureCaller: LedgerUser {
    var service: ServerOptions { get }
}

extension FigureCaller {
    /// Passes `body` a client of the running service, or else of one whose sums have the latest purchases of the ledger.
    func withClient<Value: Sendable>(
        _ body: @Sendable @escaping (ServiceClient) async throws -> Value
    ) async throws -> Value {
        let localService = {
            try LocalService(of: try await updatedFigures(), clock: try common.dataDirectory.clock)
        }
        return try await service.withClient(or: localService, body)
    }

    /// - Parameter query: The parameters. One without a value is left out.
    func get<Answer: Decodable & Sendable>(
        _ path: String, _ query: [(name: String, value: String?)] = []
    ) async throws -> Answer {
        let path = ServiceClient.path(path, query)
        return try await withClient { try await $0.get(path) }
    }
}

struct FiguresShow: FigureCaller {
    static let configuration = CommandConfiguration(
        "show", "Print a figure by day, week or month, or the list of figures.",
        """
        Without a figure, the command lists the figures and their definitions. Money is in the digits of its currency; with \
        --raw and --json it is in milliunits: 4990 of EUR are 4.99 euros. With --rebuild, the command computes all sums again \
        from the transactions. Use it if `till ledger check` asks for it, and stop the service first.
        """,
        examples: """
            till figures
            till figures revenue --by month --from 2026-01-01 --group product
            till figures revenue --store play_store
            till figures active-subscriptions --environment sandbox \\
              --server https://shop.example.com
            till figures --rebuild
            """)

    @Argument(help: "The figure; none for the list of figures.")
    var figure: Figure?

    @Option(help: "The length of the periods: day, week or month.")
    var by: FigureInterval = .day

    @Option(help: .value("date", "The beginning of the period (a day in UTC; default: 28 days before the end)."))
    var from: CalendarDay?

    @Option(help: .value("date", "The end of the period (a day in UTC, the last one; default: today)."))
    var to: CalendarDay?

    @Option(help: "A series for each app, product, storefront, store or origin.")
    var group: FigureQuery.Group?

    @Option(help: .environment)
    var environment: FigureQuery.Environment = .production

    @Option(name: .customLong("bundle-id"), help: .bundleIdentifier("default: all apps"))
    var app: String?

    @Option(help: .product("default: all products"))
    var product: String?

    @Option(help: .value("country", "The country of the storefront, such as USA (default: all countries)."))
    var storefront: String?

    @Option(help: .store("local ones included; default: both"))
    var store: PurchaseStore?

    @Flag(help: "Print money in milliunits, with its currency in a column.")
    var raw = false

    @Flag(help: "Compute all sums of the ledger again.")
    var rebuild = false

    @OptionGroup var service: ServerOptions

    @OptionGroup var ledger: LedgerOptions

    func validate() throws {
        try require(!rebuild || service.server == nil, "--rebuild cannot be used with --server.")
    }

    func perform() async throws {
        if rebuild {
            let rebuilding = Progress("Computing the sums")
            try await localFigures().rebuild()
            rebuilding.end()
        }
        guard let figure else { return rebuild ? terminal.line("All sums were computed again.") : try printList() }
        let other: FigureQuery.Environment = environment == .production ? .sandbox : .production
        let path = path(of: figure, in: environment, by: group)
        let salesPath = self.path(of: .transactions, in: other, by: nil)
        let unpricedPath = self.path(of: .withoutPrice, in: environment, by: nil)
        let (table, sales, unpriced) = try await withClient { client in
            let table: Answered<FigureListing> = try await client.get(path)
            let sales: FigureListing? = table.isZero ? try await client.get(salesPath) : nil
            let unpriced: FigureListing? = figure.isMoney ? try await client.get(unpricedPath) : nil
            return (table, sales?.sum, unpriced?.sum)
        }
        (raw ? table.rawLines : table.lines).forEach(terminal.line)
        if !table.isBackfilled || table.pendingUsers > 0 {
            terminal.note("The sums are behind: \(table.pendingUsers) users are pending.")
        }
        if let sales, sales > 0 {
            terminal.note("\(counted(sales, "sale")) in \(other.rawValue); add --environment \(other.rawValue)")
        }
        if let unpriced, unpriced > 0 {
            terminal.note(
                "\(counted(unpriced, "sale")) without a stated price, as app receipts have none; the money does not include "
                    + "them. `till figures without-price` counts them.")
        }
        try terminal.json(table)
    }

    private func printList() throws {
        terminal.table(["FIGURE", "DEFINITION"], Figure.allCases.map { [$0.rawValue, $0.definition] })
        try terminal.json(try JSONDecoder().decode(JSONContent.self, from: Data(ListedFigure.list.json())))
    }

    private func path(of figure: Figure, in environment: FigureQuery.Environment, by group: FigureQuery.Group?)
        -> String
    {
        ServiceClient.path(
            "/v1/figures/\(figure.rawValue)",
            [
                ("by", by.rawValue), ("environment", environment.rawValue), ("from", from?.description),
                ("to", to?.description), ("group", group?.rawValue), ("app", app), ("product", product),
                ("storefront", storefront), ("store", store?.rawValue),
            ])
    }
}

extension Figure: ExpressibleByArgument {}
extension FigureInterval: ExpressibleByArgument {}
extension FigureQuery.Group: ExpressibleByArgument {}
extension PurchaseStore: ExpressibleByArgument {
    package init?(argument: String) {
        self.init(listed: argument)
    }
}
extension LedgerUser {
    /// The figures of the ledger, with the tables of their sums.
    func localFigures() throws -> FigureService {
        let place = try ledger.place()
        // The command neither creates a ledger nor converts one of another version.
        _ = try place.open(migrates: false)
        let clock = try common.dataDirectory.clock
        return try place.open([.entitlements, .figures]).figures(clock: clock)
    }

    /// The same with the latest purchases in their sums.
    func updatedFigures() async throws -> FigureService {
        let figures = try localFigures()
        try await figures.sweep()
        let rolling = Progress("Computing the sums")
        try await figures.rollUp()
        rolling.end()
        return figures
    }
}

extension FigureQuery.Environment: ExpressibleByArgument {}

extension CalendarDay: ExpressibleByArgument {
    public init?(argument: String) {
        self.init(argument)
    }
}

/// A figure as a table for a terminal: a row for each period of each series.
struct FigureListing: Decodable, Sendable {
    struct Period: Decodable {
        let from: String
        let to: String
        let isComplete: Bool
    }

    struct Series: Decodable {
        let group: String?
        let currency: String?
        let values: [Int64]
        let denominators: [Int64]?
        let parts: [String: [Int64]]?
    }

    private let group: String?
    private let periods: [Period]
    private let series: [Series]
    let pendingUsers: Int
    let isBackfilled: Bool

    var sum: Int64 { series.flatMap(\.values).reduce(0, +) }
    /// True if no period has a value.
    var isZero: Bool { series.allSatisfy { ($0.values + ($0.denominators ?? [])).allSatisfy { $0 == 0 } } }

    /// The rows with money in the digits of its currency.
    var lines: [String] { lines(isRaw: false) }
    /// The rows with money in milliunits.
    var rawLines: [String] { lines(isRaw: true) }

    private func lines(isRaw: Bool) -> [String] {
        guard !series.isEmpty else { return ["Nothing was sold in this time."] }
        // Only the series of cohorts have a group that nobody asked for.
        let group = group ?? (series.contains { $0.group != nil } ? "months after" : nil)
        let parts = Set(series.flatMap { $0.parts.map { Array($0.keys) } ?? [] }).sorted()
        let hasCurrency = isRaw && series.contains { $0.currency != nil }
        let hasDenominator = series.contains { $0.denominators != nil }
        func text(_ values: [Int64]?, _ index: Int, in currency: String?) -> String {
            guard let values, values.indices.contains(index) else { return "-" }
            guard !isRaw, let currency else { return String(values[index]) }
            return Price(milliunits: values[index], currency: currency).formatted
        }
        let header =
            ["FROM", "TO"] + (group.map { [$0.uppercased()] } ?? []) + (hasCurrency ? ["CURRENCY"] : []) + ["VALUE"]
            + (hasDenominator ? ["OF"] : []) + parts.map { $0.uppercased() }
        let rows = series.flatMap { series in
            let group = group.map { _ in [series.group.flatMap { $0.isEmpty ? nil : $0 } ?? "-"] } ?? []
            return periods.indices.map { index in
                let period = periods[index]
                // A period that is not over.
                let end = period.to + (period.isComplete ? "" : "*")
                return [period.from, end] + group + (hasCurrency ? [series.currency ?? "-"] : [])
                    + [text(series.values, index, in: series.currency)]
                    + (hasDenominator ? [text(series.denominators, index, in: nil)] : [])
                    + parts.map { text(series.parts?[$0], index, in: series.currency) }
            }
        }
        return TextTable(header: header, rows).lines
    }
}
