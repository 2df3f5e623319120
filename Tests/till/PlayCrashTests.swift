import AppStore
import Foundation
import HTTPSupport
import PlayStore
import Proofs
import Synchronization
import TestSupport
import Testing
import Vocabulary

/// A service beside a local Google Play in a process of its own, killed between purchases, redemptions and acknowledgements.
@Suite struct PlayCrashTests {
    private static let salesInRound = 60
    private static let rounds = ProcessInfo.processInfo.environment["TILL_CRASH_ROUNDS"].flatMap(Int.init) ?? 2
    private static let connections = 20
    /// The seeds of one purchase.
    private static let amount = 10

    private struct Key: Decodable {
        let keyFile: String
    }

    private struct Sale: Hashable, Sendable {
        let number: Int64
        let token: String
        /// A user for each sale, whose balance says how often it was granted.
        let user: String
    }

    private let till: TillProcess
    private let catalog: [String]
    /// The Play of the other process.
    private let play: GooglePlay
    private let playProcess: ServeProcess
    private let account: String
    private let key: String
    private let garden: TestGarden

    init() async throws {
        (till, garden) = (try TillProcess(), try TestGarden())
        catalog = ["--catalog", garden.folder.folder("catalog").path]
        playProcess = try await ServeProcess(till, catalog, command: "play")
        play = try GooglePlay(
            folder: till.folder.folder("data/play"), clock: SystemClock(), randomness: .system)
        account = try await till.run("play", "keys", "--url", playProcess.url.absoluteString, "--json")
            .decoded(Key.self).keyFile
        key = try await till.makeKey()
    }

    private func serve() async throws -> ServeProcess {
        try await ServeProcess(
            till,
            ["--google-service-account", account, "--google-play-url", playProcess.url.absoluteString] + catalog,
            environment: ["TILL_REQUESTS_PER_MINUTE": "1000000", "TILL_ADDRESS_REQUESTS_PER_MINUTE": "1000000"])
    }

    private func buy(_ count: Int, after first: Int) throws -> [Sale] {
        try (first..<first + count).map { index in
            let order = PlayPurchaseOrder(
                packageName: TestGarden.bundleIdentifier, productId: "garden.seeds", account: "account\(index)")
            let bought = try play.perform { try $0.buy(order) }
            return Sale(number: bought.number, token: bought.token, user: "user\(index)")
        }
    }

    /// Presents each purchase over many connections at once.
    ///
    /// - Parameter onAnswer: Receives the number of redeemed purchases after each answer.
    /// - Returns: The purchases that the service has answered to be redeemed.
    private func redeem(
        _ sales: [Sale], at service: ServeProcess, onAnswer: @escaping @Sendable (Int) -> Void = { _ in }
    ) async -> Set<Sale> {
        let client = OutgoingClient(connectionsPerHost: Self.connections, idleTime: .seconds(1))
        @Sendable func send(_ sale: Sale) async -> Sale? {
            var request = OutgoingRequest(
                .post, "\(service.url.absoluteString)/v1/users/\(sale.user)/transactions",
                body: Array(JSONValue.object(["purchaseToken": .string(sale.token)]).compactText.utf8))
            request.add("Authorization", "Bearer \(key)")
            let limits = OutgoingLimits(answer: .seconds(30), body: .whole(upTo: 1 << 20))
            return (try? await client.send(request, limits))?.status == 200 ? sale : nil
        }
        return await withTaskGroup(of: Sale?.self) { group in
            var (answered, waiting): (Set<Sale>, _) = ([], sales.makeIterator())
            for _ in 0..<Self.connections {
                guard let sale = waiting.next() else { break }
                group.addTask { await send(sale) }
            }
            while let sale = await group.next() {
                if let sale { answered.insert(sale) }
                onAnswer(answered.count)
                if let next = waiting.next() { group.addTask { await send(next) } }
            }
            return answered
        }
    }

    private func seeds(of sale: Sale, at service: ServeProcess) async throws -> Int {
        let balances: List<Credit> = try await ServiceClient(url: service.url, credential: key).get(
            "/v1/users/\(sale.user)/balances")
        return balances.elements.first { $0.balance == "seeds" }?.amount ?? 0
    }

    private func consumed(_ sales: [Sale]) throws -> Int {
        let numbers = Set(sales.map(\.number))
        return try play.perform { try $0.purchases(of: nil, limit: 100_000) }.count {
            numbers.contains($0.number) && $0.isConsumed
        }
    }

    /// In one half of the rounds, the kill comes under the load of redemptions, in the other half under that of acknowledgements.
    /// `make crash-test` runs more rounds.
    @Test func `a kill loses no purchase, grants none twice, and each is consumed in the end`() async throws {
        var (sales, answered): ([Sale], Set<Sale>) = ([], [])
        for round in 0..<Self.rounds {
            let due = try buy(Self.salesInRound, after: sales.count)
            sales += due
            let moment = Int.random(in: 1..<Self.salesInRound)
            let service = try await serve()
            if round % 2 == 0 {
                let isKilled = Mutex(false)
                // A device without an answer sends a token again, so the test sends each one twice.
                let redeemed = await redeem(zip(due, due).flatMap { [$0, $1] }, at: service) { count in
                    let isFirst = isKilled.withLock { killed in
                        defer { killed = killed || count >= moment }
                        return count >= moment && !killed
                    }
                    if isFirst { service.kill() }
                }
                answered.formUnion(redeemed)
                #expect(isKilled.withLock { $0 }, "round \(round)")
            } else {
                answered.formUnion(await redeem(due, at: service))
                try await expectEventually { try consumed(due) >= moment }
                service.kill()
            }
            #expect(await service.end(SIGKILL) == -SIGKILL)

            let next = try await serve()
            for sale in sales {
                let seeds = try await seeds(of: sale, at: next)
                #expect(
                    seeds == Self.amount || seeds == 0 && !answered.contains(sale),
                    "round \(round), killed at \(moment): \(sale.user) has \(seeds)")
            }
            #expect(await next.end(SIGKILL) == -SIGKILL)
        }
        // A device presents each purchase again that it has no answer about, later if these are more than the tokens of a minute. In the
        // end the ledger has each one once.
        let last = try await serve()
        await expectEventually {
            answered.formUnion(await redeem(sales.filter { !answered.contains($0) }, at: last))
            return answered.count == sales.count
        }
        let repeated = Array(sales.prefix(100))
        await expectEventually { await redeem(repeated, at: last).count == repeated.count }
        for sale in sales { #expect(try await seeds(of: sale, at: last) == Self.amount, "\(sale.user)") }
        try await expectEventually { try consumed(sales) == sales.count }
        #expect(await last.end(SIGTERM) == 0)
        #expect(await playProcess.end(SIGTERM) == 0)
        let checked = try await till.run("ledger", "check")
        #expect(checked.status == 0, "\(checked.output)")
    }
}
