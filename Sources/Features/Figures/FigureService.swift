import Ledger
import Proofs

/// The use cases of the figures: update the sums, and answer queries.
package struct FigureService: Sendable {
    /// The number of users in one commit. It takes some milliseconds, during which SQLite has no other commit.
    private static let usersOfBatch = 32
    private static let usersOfPage = 1000

    private let ledger: Ledger
    private let clock: any WallClock

    package init(ledger: Ledger, clock: any WallClock) {
        self.ledger = ledger
        self.clock = clock
    }

    package var today: CalendarDay { CalendarDay(clock.now()) }

    /// - Throws: `FigureError`, `StorageFault`.
    package func answer(_ query: FigureQuery) async throws -> FigureAnswer {
        let calculation = FigureCalculation(query, today: today)
        return try await ledger.read(.longSnapshot) { try $0.answer(calculation) }
    }

    /// Updates the sums, in batches of users.
    ///
    /// - Parameter pause: Runs between two batches; returns false to stop.
    /// - Returns: The number of users whose part of the sums was damaged, and was computed anew.
    @discardableResult
    package func rollUp(between pause: @Sendable () async -> Bool = { true }) async throws -> Int {
        var last = Int64.min
        var damaged = 0
        while true {
            let user = last
            let batch = try await ledger.read(.longSnapshot) {
                try $0.figures.batch(after: user, limit: Self.usersOfBatch)
            }
            guard let next = batch.last?.user else { return damaged }
            damaged += try await ledger.writeInBackground { try $0.figures.write(batch) }
            guard await pause() else { return damaged }
            last = next
        }
    }

    /// Finds users with outdated sums that no mark shows: users from before figures were turned on, users that a process
    /// without figures has written, and all users after a change of the rules.
    package func sweep() async throws {
        var last = Int64.min
        while true {
            let user = last
            let page = try await ledger.read(.longSnapshot) {
                try $0.figures.outdated(after: user, limit: Self.usersOfPage)
            }
            if !page.marks.isEmpty {
                try await ledger.writeInBackground { try $0.figures.insert(page.marks) }
            }
            guard let next = page.last else { break }
            last = next
        }
        guard try await !ledger.read(.longSnapshot, { try $0.figures.isBackfilled() }) else { return }
        let moment = clock.now()
        try await ledger.writeInBackground { try $0.figures.setBackfilled(at: moment) }
    }

    /// Computes all sums anew from the transactions.
    package func rebuild() async throws {
        try await ledger.write { try $0.figures.deleteAll() }
        try await sweep()
        try await rollUp()
    }
}

extension LedgerTransaction {
    fileprivate var figures: FigureUpkeepRecords { FigureUpkeepRecords(database: database) }

    fileprivate func answer(_ calculation: FigureCalculation) throws -> FigureAnswer {
        let known = try database.apps.names()
        let query = calculation.query
        // An unknown app has no number.
        let app = query.app.map { name in known.first { ByteKey($0.value) == ByteKey(name) }?.key ?? 0 }
        let reading = FigureReading(database: database, query: query, app: app, apps: known)
        return try calculation.answer(reading, figures)
    }
}
