import Catalog
import Entitlements
import Features
import Foundation
import Ledger
import Proofs
import Service
import Synchronization
import TestSupport
import Testing
import Vocabulary

/// Answers that a process keeps in memory are those that the ledger gives, whatever any process has written.
@Suite struct KeptUserAnswerTests {
    typealias Rules = RuleFixture

    /// A process of the service with the answers that it keeps.
    private final class Process: Sendable {
        let service: EntitlementService
        let items = UserAnswers<[OwnedItem]>(upTo: 1 << 20) { $0.count * 500 }
        let rights = UserAnswers<[UserRight]>(upTo: 1 << 20) { $0.count * 500 }
        let info = KeptCustomerInfo()
        let keptRights = KeptRights()
        /// The number of answers about items that were not kept.
        let made = Atomic(0)
        /// The number of customer infos that were not kept.
        let madeInfo = Atomic(0)

        init(_ service: EntitlementService) {
            self.service = service
        }

        func info(
            about customer: CustomerIdentifier, by service: EntitlementService
        ) async throws -> (info: RenderedCustomerInfo, moment: Timestamp) {
            try await info.info(about: customer, by: service) {
                madeInfo.add(1, ordering: .relaxed)
                return keptRights.rights(of: service)
            }
        }
    }

    /// The place of a ledger: a file or, with `TILL_POSTGRES`, a schema in PostgreSQL.
    private enum Place {
        case file(URL)
        case schema(TestSchema)

        init(_ file: URL) throws {
            self = TestSchema.server == nil ? .file(file) : .schema(try TestSchema())
        }

        func open() throws -> Ledger {
            switch self {
            case .file(let file): try Ledger(file: file)
            case .schema(let schema): try Ledger(PostgreSQLAddress(schema.address))
            }
        }

        func problems() throws -> [String] {
            switch self {
            case .file(let file): try LedgerFile(file).check().problems
            case .schema: try open().check().problems
            }
        }
    }

    /// Two processes over one ledger.
    private final class World {
        static let origins: Set<Origin> = [.localSandbox]
        static let customers =
            ["mint", "rose", "fern"].compactMap { CustomerIdentifier($0) }
            + (1...3).compactMap { CustomerIdentifier("$RCAnonymousID:\(String(repeating: "\($0)", count: 32))") }
        static let users = customers.map(\.user)

        let dice: Dice
        let clock = ManualClock(Rules.now)
        let app: App
        let catalogs: [Catalog]
        private let policy: OwnershipPolicy
        // The folder lives as long as the ledgers.
        private let folder: TemporaryFolder
        private var place: Place
        private(set) var processes: [Process] = []
        private(set) var story: [String] = []
        private(set) var givenCount = 0
        /// The number of answers that earlier processes made.
        private var madeBefore = 0
        private var madeInfoBefore = 0
        /// The number of the last renewal of each subscription.
        private var periods: [Int: Int] = [:]
        private var grants: [(identifier: String, user: User)] = []
        private var revision: Int64 = 0

        init(seed: UInt64, under policy: OwnershipPolicy) throws {
            dice = Dice(seed: seed)
            catalogs = [try Catalog(folder: Project.products), try TestGarden(start: clock.now().rfc3339).catalog]
            app = App(catalogs[0])
            self.policy = policy
            folder = try TemporaryFolder(isInMemory: true)
            place = try Place(folder.file("ledger.sqlite"))
            try start()
        }

        /// Starts two processes over the ledger, in place of the earlier ones.
        private func start() throws {
            (madeBefore, madeInfoBefore) = (madeCount, madeInfoCount)
            let verifier = ProofVerifier(anchors: try TrustAnchors([]), clock: clock)
            processes = try (0..<2).map { _ in
                Process(
                    EntitlementService(
                        apps: Apps(app), verifier: verifier, ledger: try place.open(), clock: clock,
                        accepted: AcceptedOrigins(Self.origins), policy: policy))
            }
        }

        var madeCount: Int { processes.reduce(madeBefore) { $0 + $1.made.load(ordering: .relaxed) } }
        var madeInfoCount: Int { processes.reduce(madeInfoBefore) { $0 + $1.madeInfo.load(ordering: .relaxed) } }
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
            switch dice.number(below: 14) {
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
            case 11: try importCustomer(into: ledger)
            case 12: try stateAttribute(in: ledger)
            default:
                let pause = dice.pick([1, 3600, Self.day, 5 * Self.day] as [Int64]) ?? 1
                story.append("\(pause) s pass")
                clock.advance(milliseconds: pause * 1000)
            }
        }

        /// States an attribute or its removal: by the team, with a public key for all apps, or with that of the app.
        private func stateAttribute(in ledger: Ledger) throws {
            let (user, moment, isPublic) = (user(), now, dice.happens(60))
            let attribute = try Attribute(
                name: "color\(dice.number(below: 2))", value: dice.happens(70) ? "\(story.count)" : nil,
                statedAt: moment, isPublic: isPublic)
            let app = isPublic && dice.happens(60) ? app.bundleIdentifier : nil
            story.append("\(attribute) of \(user) is stated by \(app ?? "the team")")
            try ledger.writeNow { try $0.state([attribute], of: user, from: app, at: moment) }
        }

        /// Imports a customer of another purchase server, as `till import revenuecat` does: a further id, a promotion, and an
        /// expected purchase, which the next claim to it confirms.
        private func importCustomer(into ledger: Ledger) throws {
            // A known id names the customer.
            let ids = [user(), user()].sorted { !$0.isAnonymousCustomer && $1.isAnonymousCustomer }
            let (number, moment) = (dice.number(below: 6), now)
            let purchase = ExpectedPurchase(
                app: "com.example.app", origin: .localSandbox,
                originalTransactionIdentifier: number > 1 ? "\(number).0" : "\(number)",
                productIdentifier: number > 1 ? "monthly" : "p", purchaseDate: Rules.now, expiresAt: nil)
            let promotion = PromisedItem(
                identifier: "promotion\(number) of \(ids[0].name)", item: Item(collection: "sprout", number: 1),
                reason: "r", endsAt: dice.happens(50) ? moment.adding(days: Int64(1 + dice.number(below: 9))) : nil)
            let promotions = dice.happens(50) ? [promotion] : []
            story.append("\(ids) are imported, expecting \(purchase.originalTransactionIdentifier)")
            _ = try ledger.writeNow {
                try $0.add(
                    imported: ids[0], aliases: ids[1] == ids[0] ? [] : [ids[1]], grants: promotions,
                    purchases: [purchase], by: "process", at: moment)
            }
            grants += promotions.map { ($0.identifier, ids[0]) }
        }

        /// Moves the ledger with `till ledger export` and `till ledger import` into an empty one, while two processes answer
        /// over it.
        func moveLedger() async throws {
            var lines: Data? = Data()
            _ = try ledger().export { lines?.append($0) }
            place = try Place(folder.file("moved.sqlite"))
            try start()
            // Nobody is known yet.
            try await check()
            story.append("the ledger is moved")
            _ = try place.open().importLines { () throws(ImportError) -> Data? in
                defer { lines = nil }
                return lines
            }
        }

        private func redeem(_ claims: [Claim], for user: User, in service: EntitlementService) async throws {
            let claims = PresentedClaims(claims, for: user, accepting: Self.origins, by: .user)
            _ = try await service.claims.answer(.redeem(claims))
        }

        func check() async throws {
            for (number, process) in processes.enumerated() {
                for (customer, app) in Self.customers.flatMap({ [($0, nil), ($0, app.bundleIdentifier as String?)] }) {
                    let user = customer.user
                    let service = process.service.limited(to: app)
                    let items = try await service.answer(aboutItemsOf: user, keptIn: process.items) { items, _ in
                        process.made.add(1, ordering: .relaxed)
                        return items
                    }
                    givenCount += 1
                    let rights = try await service.answer(aboutRightsOf: user, keptIn: process.rights) { rights, _ in
                        rights
                    }
                    let fresh = try await service.items(of: user)
                    let (info, moment) = try await process.info(about: customer, by: service)
                    let (freshInfo, _) = try await Process(service).info(about: customer, by: service)
                    let history = story.joined(separator: "\n")
                    try #require(items == fresh, "process \(number), \(user), after:\n\(history)")
                    try #require(
                        try await rights == service.rights(of: user),
                        "process \(number), \(user), after:\n\(history)")
                    let (given, expected) = (info.json(at: moment), freshInfo.json(at: moment))
                    let isFresh = given == expected && info.tag == freshInfo.tag
                    try #require(isFresh, "process \(number), \(user): \(Self.text(given)), after:\n\(history)")
                }
            }
        }

        private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

        /// The check of the ledger holds the copied facts of items against the transactions.
        func end() throws {
            #expect(try place.problems() == [], "\(story.joined(separator: "\n"))")
        }
    }

    static let policies: [OwnershipPolicy] = [.keep, .transfer(pauseSeconds: 0), .transferIfInactive(pauseSeconds: 0)]

    @Test(arguments: 0..<24 as Range<UInt64>)
    func `two processes give the ledger's answers after each write`(seed: UInt64) async throws {
        let world = try World(seed: seed, under: Self.policies[Int(seed % 3)])
        for step in 0..<60 {
            if step == 30 { try await world.moveLedger() } else { try await world.takeStep() }
            try await world.check()
        }
        // Unknown users have no kept answers, and each change of the catalog makes all of them anew.
        #expect(world.madeCount * 10 < world.givenCount * 9)
        #expect(world.madeInfoCount * 20 < world.givenCount * 19)
        try world.end()
    }
}
