import Catalog
import Features
import Foundation
import Ledger
import Proofs
import Synchronization
import TestSupport
import Testing

/// Answers that a process keeps in memory are those that the ledger gives, whatever any process has written.
@Suite struct KeptUserAnswerTests {
    typealias Rules = RuleFixture

    /// A process of the service with the answers that it keeps.
    private final class Process: Sendable {
        let service: EntitlementService
        let items = UserAnswers<[OwnedItem]>(upTo: 1 << 20) { $0.count * 500 }
        let rights = UserAnswers<[UserRight]>(upTo: 1 << 20) { $0.count * 500 }
        let histories = UserAnswers<CustomerHistory>()
        /// The number of answers about items that were not kept.
        let made = Atomic(0)

        init(_ service: EntitlementService) {
            self.service = service
        }
    }

    /// Two processes over one ledger, in SQLite or, with `TILL_POSTGRES`, in PostgreSQL.
    private final class World {
        static let origins: Set<Origin> = [.localSandbox]
        static let users =
            ["mint", "rose", "fern"].compactMap { CustomerIdentifier($0)?.user }
            + (1...3).compactMap {
                CustomerIdentifier("$RCAnonymousID:\(String(repeating: "\($0)", count: 32))")?.user
            }

        let dice: Dice
        let clock = ManualClock(Rules.now)
        let app: App
        let catalogs: [Catalog]
        let processes: [Process]
        // The folder lives as long as the ledgers.
        private let folder: TemporaryFolder
        private let schema: TestSchema?
        private(set) var story: [String] = []
        private(set) var givenCount = 0
        /// The number of the last renewal of each subscription.
        private var periods: [Int: Int] = [:]
        private var grants: [(identifier: String, user: User)] = []
        private var revision: Int64 = 0

        init(seed: UInt64, under policy: OwnershipPolicy) throws {
            dice = Dice(seed: seed)
            catalogs = [try Catalog(folder: Project.products), try TestGarden(start: clock.now().rfc3339).catalog]
            let app = App(catalogs[0])
            self.app = app
            folder = try TemporaryFolder(isInMemory: true)
            let file = folder.file("ledger.sqlite")
            schema = TestSchema.server == nil ? nil : try TestSchema()
            let schema = schema
            let clock = clock
            let accepted = AcceptedOrigins(Self.origins)
            let verifier = ProofVerifier(anchors: try TrustAnchors([]), clock: clock)
            processes = try (0..<2).map { _ in
                let ledger =
                    try schema.map { try Ledger(PostgreSQLAddress($0.address)) } ?? Ledger(file: file)
                return Process(
                    EntitlementService(
                        apps: Apps(app), verifier: verifier, ledger: ledger, clock: clock, accepted: accepted,
                        policy: policy))
            }
        }

        var madeCount: Int { processes.reduce(0) { $0 + $1.made.load(ordering: .relaxed) } }
        private var now: Timestamp { clock.now() }
        private func user() -> User { Self.users[dice.number(below: Self.users.count)] }
        private func ledger() -> Ledger { processes[dice.number(below: 2)].service.ledger }
        private func seconds(_ moment: Timestamp) -> Int64 { moment.secondsSince1970 - Rules.now.secondsSince1970 }

        private static let day: Int64 = 86_400

        /// A claim about one of six purchases: two without an end, four subscriptions with their periods.
        private func claim(isRevoked: Bool = false) -> Claim {
            let number = dice.number(below: 6)
            let signed = seconds(now)
            let item = Item(collection: "sprout", number: 1 + number % 3)
            guard number > 1 else {
                return Rules.claim(
                    "\(number)", bought: 0, revoked: isRevoked, signed: signed, item: item,
                    facts: TransactionFacts([.type: .text(ProductType.nonConsumable.rawValue)]))
            }
            let last = periods[number, default: 0]
            // A renewal is signed up to a day before it begins.
            let period = isRevoked ? last : last + dice.number(below: 2)
            periods[number] = period
            let bought = Int64(period * 7) * Self.day
            var facts: [TransactionFact: StatedValue] = [
                .type: .text(ProductType.autoRenewableSubscription.rawValue),
                .signedDate: .integer(now.millisecondsSince1970),
            ]
            if period == 0, dice.happens(50) { facts[.offerDiscountType] = .text("FREE_TRIAL") }
            if dice.happens(10) { facts[.isUpgraded] = .integer(1) }
            if dice.happens(20) { facts[.inAppOwnershipType] = .text("FAMILY_SHARED") }
            let renewal = StatedRenewal(
                statedAt: now, proofDigest: [UInt8](repeating: 7, count: 32),
                facts: RenewalFacts([
                    .autoRenewStatus: .integer(dice.happens(50) ? 1 : 0),
                    .isInBillingRetryPeriod: .integer(dice.happens(20) ? 1 : 0),
                ]))
            let end = bought + 7 * Self.day
            return Rules.claim(
                "\(number).\(period)", original: "\(number).0", product: "monthly", bought: bought, revoked: isRevoked,
                signed: signed, item: item, expires: end,
                grace: dice.happens(20) ? .until(Rules.later(end + 2 * Self.day)) : nil,
                facts: TransactionFacts(facts), renewal: dice.happens(70) ? renewal : nil)
        }

        func takeStep() async throws {
            let (ledger, service, moment) = (ledger(), processes[dice.number(below: 2)].service, now)
            switch dice.number(below: 12) {
            case 0...2:
                let (claim, user) = (claim(), user())
                story.append("\(user) redeems \(claim.transactionIdentifier)")
                try await redeem([claim], for: user, in: service)
            case 3, 4:
                let claim = claim(isRevoked: dice.happens(30))
                story.append("a statement about \(claim.transactionIdentifier)")
                _ = try ledger.writeNow { try $0.record(claim, at: moment) }
            case 5:
                let user = user()
                story.append("a gift for \(user)")
                let grant = Grant(
                    identifier: "grant\(story.count)", item: Item(collection: "sprout", number: 1), reason: "r",
                    grantedBy: "key", grantedAt: moment,
                    endsAt: dice.happens(50) ? moment.adding(days: Int64(1 + dice.number(below: 9))) : nil)
                _ = try ledger.writeNow { try $0.add(grant, for: user) }
                grants.append((grant.identifier, user))
            case 6:
                guard let grant = dice.pick(grants) else { return }
                story.append("\(grant) is revoked")
                _ = try ledger.writeNow {
                    try $0.revoke(
                        grant: grant.identifier, of: grant.user,
                        Revocation(revokedAt: moment, reason: "r", revokedBy: "key"))
                }
            case 7:
                let (claim, user) = (claim(), user())
                let change = dice.happens(60) ? PurchaseChange.revoke(reason: "r") : .reinstate(reason: "r")
                story.append("the team changes \(claim.transactionIdentifier) of \(user): \(change)")
                _ = try ledger.writeNow {
                    try $0.change(
                        change, ofTransaction: claim.transactionIdentifier, origin: nil, of: user, by: "key", at: moment
                    )
                }
            case 8:
                let (current, new) = (user(), user())
                story.append("\(current) logs in as \(new)")
                _ = try? ledger.writeNow { try $0.logIn(current, as: new, by: .user, at: moment) }
            case 9:
                guard dice.happens(30) else { return }
                let user = user()
                story.append("\(user) is erased")
                _ = try ledger.writeNow { try $0.erase(user, by: .user, at: moment) }
            case 10:
                revision += 1
                story.append("the catalog changes")
                app.current.replace(with: catalogs[Int(revision) % 2], revision: revision)
            default:
                let pause = dice.pick([1, 3600, Self.day, 5 * Self.day] as [Int64]) ?? 1
                story.append("\(pause) s pass")
                clock.advance(milliseconds: pause * 1000)
            }
        }

        private func redeem(_ claims: [Claim], for user: User, in service: EntitlementService) async throws {
            let request = ClaimRequest.redeem(claims, for: user, accepting: Self.origins, by: .user)
            _ = try await service.claims.answer(request)
        }

        func check() async throws {
            for (number, process) in processes.enumerated() {
                for (user, app) in Self.users.flatMap({ [($0, nil), ($0, app.bundleIdentifier as String?)] }) {
                    let service = process.service.limited(to: app)
                    let items = try await service.answer(aboutItemsOf: user, keptIn: process.items) { items in
                        process.made.add(1, ordering: .relaxed)
                        return items
                    }
                    givenCount += 1
                    let rights = try await service.answer(aboutRightsOf: user, keptIn: process.rights) { $0 }
                    let fresh = try await service.items(of: user)
                    try await checkHistory(of: user, in: service, process.histories)
                    let history = story.joined(separator: "\n")
                    try #require(items == fresh, "process \(number), \(user), after:\n\(history)")
                    try #require(
                        try await rights == service.rights(of: user),
                        "process \(number), \(user), after:\n\(history)")
                }
            }
        }

        private func checkHistory(
            of user: User, in service: EntitlementService, _ histories: UserAnswers<CustomerHistory>
        ) async throws {
            let kept = try await service.ledger.read { try service.history(of: user, keptIn: histories, $0) }
            let fresh = try await service.history(of: user)
            let comment = Comment(rawValue: "\(user), after:\n\(story.joined(separator: "\n"))")
            try #require(kept?.user == fresh?.user, comment)
            try #require(kept?.transactions == fresh?.transactions, comment)
            try #require(kept?.renewals == fresh?.renewals, comment)
            try #require(kept?.renewalEvents == fresh?.renewalEvents, comment)
            try #require(kept?.grants == fresh?.grants, comment)
        }

        /// The check of the ledger holds the copied facts of items against the transactions.
        func end() throws {
            let problems =
                schema == nil
                ? try LedgerFile(folder.file("ledger.sqlite")).check().problems
                : try processes[0].service.ledger.check().problems
            #expect(problems == [], "\(story.joined(separator: "\n"))")
        }
    }

    static let policies: [OwnershipPolicy] = [.keep, .transfer(pauseSeconds: 0), .transferIfInactive(pauseSeconds: 0)]

    @Test(arguments: 0..<24 as Range<UInt64>)
    func `two processes give the ledger's answers after each write`(seed: UInt64) async throws {
        let world = try World(seed: seed, under: Self.policies[Int(seed % 3)])
        for _ in 0..<60 {
            try await world.takeStep()
            try await world.check()
        }
        // Unknown users have no kept answers, and each change of the catalog makes all of them anew.
        #expect(world.madeCount * 10 < world.givenCount * 9)
        try world.end()
    }
}
