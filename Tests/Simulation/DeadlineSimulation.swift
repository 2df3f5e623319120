import AppStore
import Catalog
import Entitlements
import Foundation
import HTTPSupport
import Hummingbird
import Ledger
import Logging
import PlayStore
import Proofs
import Service
import TestSupport
import Vocabulary

/// The deadlines of a service at an App Store and a Google Play, driven by one seed.
///
/// Customers buy, ask for refunds and dispute payments, and back ends report sales, while each store has outages and lost answers, and the
/// service crashes or is down at night. The durable work, the ledger and the local stores are the real ones, on one clock that the simulation
/// moves from one event to the next. A duty can be kept if the service and the store are both up for long enough between its beginning and
/// its deadline. Each one that can be kept is, and is done once; each missed one is shown.
actor DeadlineSimulation {
    enum StoreName: String, CaseIterable {
        case appStore, googlePlay
    }

    struct Duty {
        let kind: StoreDuty.Kind
        let store: StoreName
        /// The text in the request that does it.
        let mark: String
        /// Its subject at the service.
        let subject: String
        /// Times are in seconds from the beginning of the simulation.
        let beganAt: Int64
        let deadline: Int64
        /// The time at which the service has learned of it; nil before.
        var knownAt: Int64?
        var effects: [(time: Int64, isAnswered: Bool)] = []
        var isJudged = false

        /// True if the store has had it in time, whether the service knows or not.
        var isKept: Bool { effects.contains { $0.time <= deadline } }
        var isAnsweredInTime: Bool { effects.contains { $0.isAnswered && $0.time <= deadline } }
    }

    enum Event: Sendable {
        case nightBegins, nightEnds
        case crash(seconds: Int64)
        case outage(StoreName, StoreWeather.State, seconds: Int64)
        /// The end of a crash or of an outage.
        case look
        case buyAtPlay
        case redeem(purchase: Int)
        case dispute
        /// Pub/Sub pushes the question of a duty.
        case push(duty: Int, token: String)
        case buyAtAppStore
        case requestRefund
        /// The App Store sends the notifications that it has made since.
        case collect
        case post(notification: Int, attempt: Int)
        case reportTransaction
        case makeToken
        case announce(token: Int)
        case reportToken(Int)
        /// The day on which the service has to report a token by itself begins.
        case lastDay(token: Int)
    }

    struct Purchase {
        let number: Int64
        let token: String
        let order: String
        let account: String
        var isRedeemed = false
        var isDisputed = false
    }

    struct Token {
        let token: ExternalPurchaseToken
        var isReported = false
    }

    /// A loop of durable work of the running service.
    struct Loop {
        let name: String
        let work: DurableWork
        /// The query for the time of the next attempt in the ledger.
        let due: String
        var repetition: Repetition
        /// The time of the next round.
        var wake: Int64
    }

    /// What a running service has in memory.
    struct Running {
        let service: EntitlementService
        let app: GooglePlayApp
        let reconciler: Reconciler
        var loops: [Loop]
        var reconciliation: Repetition
        var reconcileAt: Int64
    }

    static let day: Int64 = 86_400
    static let logger = Logger(label: "deadlines", factory: { _ in SwiftLogNoOpLogHandler() })
    static let origins: StoreDuties = [
        .consumptionAnswer: [.localSandbox], .externalPurchase: [.localSandbox],
        .acknowledgement: [.localPlayProduction, .localPlayTest], .refundReview: [.localPlayProduction],
        .externalTransaction: [.localPlayProduction],
    ]

    let dice: Dice
    let days: Int64
    let garden: TestGarden
    let play: GooglePlay
    let verifier: ProofVerifier
    let place: SimulatedLedger
    let metrics = ServiceMetrics()
    let weather: [StoreName: StoreWeather]
    let began: Timestamp
    let beganInstant = ContinuousClock.now
    private let folder: TemporaryFolder
    /// The hours in which the service is up; nil for always.
    private let hours: Range<Int64>?

    private(set) var ledger: Ledger
    var running: Running?
    /// The keys and addresses of the stores, once they listen.
    var connections: (account: GoogleServiceAccount, play: URL, appStore: AppStoreServerClient)?
    var now: Int64 = 0
    /// The events to come, the next one last.
    private var events: [(time: Int64, number: Int, event: Event)] = []
    private var eventCount = 0
    private var starts = 0
    private var isNight = false
    private var crashedUntil: Int64 = 0
    private var outageUntil: [StoreName: Int64] = [:]
    /// The times in which the service and a store were both up; the last one may be open.
    private var windows: [StoreName: [(from: Int64, to: Int64?)]] = [:]

    var duties: [Duty] = []
    var purchases: [Purchase] = []
    var transactions: [(identifier: String, isAsked: Bool)] = []
    var tokens: [Token] = []
    /// The notifications of the App Store, and the duties that they tell of.
    var notifications: [(payload: String, duty: Int?, isReceived: Bool)] = []
    /// The number of the last of them at the App Store.
    var lastNotification: Int64 = 0
    var serial = 0
    /// The duties that were missed and are not shown yet.
    private var unshown: [Int] = []
    var trace = SimulationTrace()
    private(set) var missed: [Duty] = []

    init(seed: UInt64, days: Int64) throws {
        (dice, self.days) = (Dice(seed: seed), days)
        hours = [8..<20, 6..<23, nil][Int(seed % 3)]
        let garden = try TestGarden(
            start: "2026-11-01T00:00:00Z", randomness: .seeded(seed &+ 1), isInMemory: true)
        self.garden = garden
        began = garden.clock.now()
        verifier = try garden.verifier()
        folder = try TemporaryFolder(isInMemory: true)
        let own = folder.folder("play")
        try FileManager.default.copyItem(at: SimulatedPlay.made.get().url, to: own)
        play = try GooglePlay(folder: own, clock: garden.clock, randomness: .seeded(seed &+ 2), newKey: TestKeys().next)
        place = try SimulatedLedger.make(in: folder, named: "ledger")
        ledger = try place.open(randomness: dice.randomness)
        weather = [.appStore: StoreWeather(garden.clock), .googlePlay: StoreWeather(garden.clock)]
    }

    // MARK: Time

    func moment(_ seconds: Int64) -> Timestamp { began.adding(seconds: seconds) }

    func seconds(_ moment: Timestamp) -> Int64 { moment.secondsSince1970 - began.secondsSince1970 }

    private func instant(_ seconds: Int64) -> ContinuousClock.Instant { beganInstant + .seconds(seconds) }

    private func seconds(_ instant: ContinuousClock.Instant) -> Int64 {
        Int64(((instant - beganInstant) / .seconds(1)).rounded(.up))
    }

    func add(_ event: Event, at time: Int64) {
        eventCount += 1
        let entry = (time: time, number: eventCount, event: event)
        let index = events.firstIndex { ($0.time, $0.number) < (entry.time, entry.number) } ?? events.endIndex
        events.insert(entry, at: index)
    }

    func tell(_ line: String) { trace.add(["\(now): \(line)"]) }

    // MARK: The play

    /// Plays all days.
    func play() async throws {
        plan()
        try await listening { try await self.run() }
    }

    /// Runs something while both stores listen.
    private func listening(_ body: @Sendable @escaping () async throws -> Void) async throws {
        guard let playWeather = weather[.googlePlay], let appStoreWeather = weather[.appStore] else {
            throw SimulationError.broken("a store has no weather")
        }
        let playRoutes = play.routes(sandboxKey: APIKey("key")).router().buildResponder()
        let storeRoutes = garden.store.routes(sandboxKey: APIKey("key"), clock: garden.clock).router().buildResponder()
        let playServer = Application(
            responder: WeatheredStore(inner: playRoutes, weather: playWeather), logger: Self.logger)
        let storeServer = Application(
            responder: WeatheredStore(inner: storeRoutes, weather: appStoreWeather), logger: Self.logger)
        try await playServer.test(.live) { play in
            try await storeServer.test(.live) { store in
                try await self.connect(playPort: play.port, storePort: store.port)
                try await body()
            }
        }
    }

    private func connect(playPort: Int?, storePort: Int?) throws {
        guard let playURL = playPort.flatMap({ URL(string: "http://127.0.0.1:\($0)") }),
            let storeURL = storePort.flatMap({ URL(string: "http://127.0.0.1:\($0)") })
        else { throw SimulationError.broken("a store does not listen") }
        let keyFile = folder.folder("play").appending(path: SimulatedPlay.keyFile, directoryHint: .notDirectory)
        let key = try play.perform { try $0.serviceAccountKey(keptIn: keyFile, at: playURL) }
        var privateKey = ""
        let made = try garden.store.makeTeamKey { privateKey = $1 }
        let storeKey = try AppStoreServerKey(
            privateKey: privateKey, keyIdentifier: made.keyIdentifier, issuerIdentifier: made.issuerIdentifier,
            bundleIdentifier: garden.bundleIdentifier)
        connections = (
            try GoogleServiceAccount(json: try key.json()), playURL,
            storeKey.client(at: storeURL, clock: garden.clock)
        )
    }

    private func run() async throws {
        let end = days * Self.day
        try updateService()
        while let next = nextTime(), next < end {
            garden.clock.advance(milliseconds: (next - now) * 1000)
            now = next
            while let event = events.last, event.time <= now {
                events.removeLast()
                try await handle(event.event)
                try updateService()
            }
            try await reconcile()
            try await lookAtWork()
            try judge()
            try showMissed()
        }
        for duty in duties { try checkOnce(duty) }
        let counted = metrics.text(queueDepth: 0).split(separator: "\n").filter {
            $0.hasPrefix("till_acknowledgements_total") || $0.hasPrefix("till_refund_reviews_total")
                || $0.hasPrefix("till_consumption_answers_total") || $0.hasPrefix("till_external_")
        }
        trace.add(["the end"] + counted.map(String.init))
        running = nil
    }

    private func nextTime() -> Int64? {
        var times = [events.last?.time].compactMap(\.self)
        if let running {
            times += running.loops.map(\.wake) + [running.reconcileAt]
        }
        if let deadline = duties.lazy.filter({ !$0.isJudged }).map(\.deadline).min() { times.append(deadline + 1) }
        return times.min().map { max($0, now) }
    }

    /// Plans the nights, the crashes, the outages, and what customers and back ends do.
    private func plan() {
        if let hours {
            isNight = true
            for day in 0..<days {
                add(.nightEnds, at: day * Self.day + hours.lowerBound * 3600)
                add(.nightBegins, at: day * Self.day + hours.upperBound * 3600)
            }
        }
        for day in 0..<days {
            func time() -> Int64 { day * Self.day + Int64(dice.number(below: Int(Self.day))) }
            if dice.happens(10) { add(.crash(seconds: 1 + Int64(dice.number(below: 6 * 3600))), at: time()) }
            for store in StoreName.allCases where dice.happens(12) { addOutage(of: store, at: time()) }
            for _ in 0..<dice.number(below: 3) {
                let made: [Event] = [
                    .buyAtPlay, .buyAtPlay, .dispute, .buyAtAppStore, .requestRefund, .reportTransaction, .makeToken,
                ]
                if let event = dice.pick(made) { add(event, at: time()) }
            }
        }
    }

    private func addOutage(of store: StoreName, at time: Int64) {
        guard !dice.happens(20) else {
            // A store that fails again and again is up for little more than the longest pause between two attempts.
            let (length, pause): (Int64, Int64) = (5 * 3600, 75 * 60)
            for number in 0..<Int64(2 + dice.number(below: 10)) {
                add(.outage(store, .down, seconds: length), at: time + number * (length + pause))
            }
            return
        }
        // Most outages take minutes or hours. After some of days, duties cannot be kept.
        let hours = dice.happens(15) ? 24 + dice.number(below: 96) : dice.happens(50) ? 1 : 11
        let seconds = 60 + Int64(dice.number(below: hours * 3600))
        add(.outage(store, dice.happens(20) ? .mute : .down, seconds: seconds), at: time)
    }

    // MARK: The service and the stores

    func isUp(_ store: StoreName) -> Bool { weather[store]?.state != .down }

    func changeWeather(of store: StoreName, to state: StoreWeather.State, for seconds: Int64) {
        guard now >= outageUntil[store] ?? 0 else { return }
        weather[store]?.change(to: state)
        outageUntil[store] = now + seconds
        tell("\(store.rawValue) is \(state.rawValue) for \(seconds) s")
        add(.look, at: now + seconds)
    }

    /// Ends the service, in half of the cases after the beginning of an attempt that it has not sent.
    func crash(for seconds: Int64) async throws {
        if let purchases = running?.app.purchases, dice.happens(50) {
            if let due = try await purchases.purchasesToAcknowledge(limit: 1).due.first {
                _ = try await purchases.beginAcknowledgement(of: due)
            }
            if let due = try await purchases.refundReviewsToAnswer(limit: 1).due.first {
                _ = try await purchases.beginAnswer(to: due)
            }
        }
        tell("the service crashes")
        crashedUntil = max(crashedUntil, now + seconds)
        add(.look, at: crashedUntil)
    }

    func setNight(_ isNight: Bool) { self.isNight = isNight }

    /// Starts or ends the service, ends the outages that are over, and notes in which times both are up.
    private func updateService() throws {
        for store in StoreName.allCases where now >= outageUntil[store] ?? 0 { weather[store]?.change(to: .up) }
        let isUp = !isNight && now >= crashedUntil
        if isUp, running == nil { try start() }
        if !isUp, running != nil {
            running = nil
            tell("the service ends")
        }
        for store in StoreName.allCases {
            let isBoth = running != nil && weather[store]?.state == .up
            var own = windows[store] ?? []
            if isBoth, own.last.map({ $0.to != nil }) ?? true { own.append((now, nil)) }
            if !isBoth, let last = own.last, last.to == nil { own[own.count - 1].to = now }
            windows[store] = own
        }
    }

    private func start() throws {
        guard let connections else { throw SimulationError.broken("the stores do not listen") }
        starts += 1
        // A process opens the file. Most starts leave that out, because it takes as long as a day's work.
        if starts % 20 == 0 { ledger = try place.open(randomness: dice.randomness) }
        let service = EntitlementService(
            apps: try Apps([App(garden.catalog)]), verifier: verifier, ledger: ledger, clock: garden.clock,
            randomness: dice.randomness,
            accepted: AcceptedOrigins([.localSandbox, .localPlayProduction, .localPlayTest]))
        let app = GooglePlayApp(
            client: PlayDeveloperClient(
                account: connections.account, url: connections.play, packageName: garden.bundleIdentifier,
                realm: .localPlay, clock: garden.clock),
            app: service.apps.first, entitlements: service)
        let reconciler = service.reconciler(
            of: service.apps.first, asking: connections.appStore, about: [.localSandbox])
        let (metrics, logger) = (metrics, Self.logger)
        let works: [(name: String, work: DurableWork, due: String)] = [
            (
                "acknowledgements", app.acknowledger(metrics: metrics, logger: logger, maximumAtOnce: 1),
                "SELECT min(next_attempt_at) FROM google_purchase WHERE next_attempt_at IS NOT NULL"
            ),
            (
                "reviews",
                app.refundReviewResponder(answering: (.decline, false), metrics: metrics, logger: logger),
                "SELECT min(next_attempt_at) FROM google_refund_review WHERE next_attempt_at IS NOT NULL"
            ),
            (
                "external transactions", app.externalTransactionReporter(metrics: metrics, logger: logger),
                "SELECT min(next_attempt_at) FROM external_transaction WHERE next_attempt_at IS NOT NULL"
            ),
            (
                "consumption",
                reconciler.consumptionResponder(
                    answering: (refundPreference: .decline, sampleContentProvided: false), metrics: metrics,
                    logger: logger),
                "SELECT NULL"
            ),
            (
                "external purchases", reconciler.externalPurchaseReporter(metrics: metrics, logger: logger),
                """
                SELECT min(time) FROM (SELECT report_at AS time FROM external_purchase WHERE report_at IS NOT NULL
                    UNION ALL SELECT next_attempt_at FROM external_purchase_report WHERE next_attempt_at IS NOT NULL) AS t
                """
            ),
        ]
        running = Running(
            service: service, app: app, reconciler: reconciler,
            loops: works.map {
                Loop(
                    name: $0.name, work: $0.work, due: $0.due, repetition: $0.work.loop(from: instant(now)), wake: now)
            }, reconciliation: Repetition(Self.reconciling, at: instant(now)), reconcileAt: now)
        tell("the service starts")
    }

    /// Tells the loops of a commit: they look each second.
    func noteChange() {
        guard var running else { return }
        for index in running.loops.indices where !running.loops[index].repetition.hasFailed {
            running.loops[index].wake = min(running.loops[index].wake, now + 1)
        }
        self.running = running
    }

    private func lookAtWork() async throws {
        for index in (running?.loops ?? []).indices {
            guard var loop = running?.loops[index], loop.wake <= now else { continue }
            await loop.work.look(in: &loop.repetition, at: instant(now), afterChange: true)
            tell("\(loop.name), \(loop.repetition.hasFailed ? "failed" : "performed")")
            takeEffects()
            if loop.repetition.hasFailed {
                loop.wake = max(seconds(loop.repetition.next), now + 1)
            } else {
                let due = try ledger.readNow { transaction in
                    try transaction.database.row(loop.due) { try $0.next() as Timestamp? } ?? nil
                }
                // An idle loop looks each five seconds.
                loop.wake = due.map { max(seconds($0) + 5, now + 1) } ?? .max
            }
            running?.loops[index] = loop
        }
    }

    /// The pauses of the reconciliation with the App Store after failures, and its interval, in seconds (`reconcile-seconds`).
    private static let reconciling = Rhythm(every: .seconds(60), retry: .seconds(60)...Duration.seconds(900))
    private static let reconcileSeconds: Int64 = 3600

    /// Asks the App Store for missed notifications, from the start of the service on. If there are none, nobody asks.
    private func reconcile() async throws {
        guard var running, running.reconcileAt <= now else { return }
        running.reconcileAt = now + Self.reconcileSeconds
        if notifications.contains(where: { !$0.isReceived }) {
            do {
                _ = try await running.reconciler.recordNotifications()
                _ = running.reconciliation.succeeded(found: true, at: instant(now))
                for index in notifications.indices where !notifications[index].isReceived { received(index) }
                tell("reconciled")
                noteChange()
            } catch is ReconciliationError {
                _ = running.reconciliation.failed(FailureCause(key: "code", text: "failed"), at: instant(now))
                running.reconcileAt = min(running.reconcileAt, max(seconds(running.reconciliation.next), now + 1))
                tell("not reconciled")
            }
        }
        self.running?.reconciliation = running.reconciliation
        self.running?.reconcileAt = running.reconcileAt
    }

    /// Notes that the service has a notification.
    func received(_ index: Int) {
        notifications[index].isReceived = true
        if let duty = notifications[index].duty, duties[duty].knownAt == nil { duties[duty].knownAt = now }
    }

    // MARK: The rules

    private func takeEffects() {
        for store in StoreName.allCases {
            for effect in weather[store]?.take() ?? [] {
                let address = effect.request.split(separator: " ", maxSplits: 2).prefix(2).joined(separator: " ")
                tell("\(store.rawValue) has performed \(address), \(effect.isAnswered ? "answered" : "unanswered")")
                guard
                    let index = duties.firstIndex(where: { $0.store == store && effect.request.contains($0.mark) })
                else { continue }
                duties[index].effects.append((seconds(effect.time), effect.isAnswered))
            }
        }
    }

    /// The longest time that the service needs for a duty while it and the store are up, in seconds.
    ///
    /// An attempt follows the last one after an hour, or after a quarter of the time that was left, if that is less. Questions of the App
    /// Store are tried again after a quarter of an hour at most.
    ///
    /// - Parameters:
    ///   - left: The time to the deadline.
    ///   - isKnown: False if the service has to learn of it first: by the next push, or by a reconciliation.
    private func time(for kind: StoreDuty.Kind, left: Int64, isKnown: Bool) -> Int64 {
        let tolerance: Int64 = 30
        switch kind {
        case .consumptionAnswer: return 900 + 60 + tolerance + (isKnown ? 0 : Self.reconcileSeconds + 60)
        case .refundReview: return min(3600, left / 4) + tolerance + (isKnown ? 0 : Self.pushSeconds)
        case .acknowledgement, .externalTransaction, .externalPurchase: return min(3600, left / 4) + tolerance
        }
    }

    /// The longest pause between two pushes of Pub/Sub, in seconds.
    static let pushSeconds: Int64 = 600

    private func canBeKept(_ duty: Duty) -> Bool {
        (windows[duty.store] ?? []).contains { window in
            let to = min(window.to ?? now, duty.deadline)
            let starts: [(time: Int64?, isKnown: Bool)] = [(duty.beganAt, false), (duty.knownAt, true)]
            return starts.contains { start, isKnown in
                guard let start else { return false }
                let from = max(window.from, start)
                return to - from >= time(for: duty.kind, left: duty.deadline - from, isKnown: isKnown)
            }
        }
    }

    private func judge() throws {
        for index in duties.indices where !duties[index].isJudged && duties[index].deadline < now {
            duties[index].isJudged = true
            let duty = duties[index]
            guard !duty.isKept else { continue }
            tell("\(duty.kind.rawValue) of \(duty.mark) is missed")
            guard !canBeKept(duty) else {
                throw SimulationError.broken(
                    "\(duty.kind.rawValue) of \(duty.mark), from \(moment(duty.beganAt).rfc3339) to "
                        + "\(moment(duty.deadline).rfc3339), was missed, and could be kept")
            }
            missed.append(duty)
            if duty.knownAt != nil { unshown.append(index) }
        }
    }

    /// Checks that the service shows what was missed, and nothing that was kept.
    private func showMissed() throws {
        guard !unshown.isEmpty, running != nil else { return }
        let open = try ledger.readNow { try $0.openDuties(Self.origins, at: moment(now)) }
        let shown = Set(open.missed.map { "\($0.kind.rawValue) \($0.subject)" })
        for duty in unshown.map({ duties[$0] })
        where !shown.contains("\(duty.kind.rawValue) \(duty.subject)") && now - duty.deadline < 6 * Self.day {
            throw SimulationError.broken("\(duty.kind.rawValue) of \(duty.mark) was missed, and is not shown")
        }
        for duty in duties
        where duty.isAnsweredInTime && duty.isJudged && shown.contains("\(duty.kind.rawValue) \(duty.subject)") {
            throw SimulationError.broken("\(duty.kind.rawValue) of \(duty.mark) was kept, and is shown as missed")
        }
        guard open.missedCount >= open.missed.count else {
            throw SimulationError.broken("\(open.missed.count) missed duties are counted as \(open.missedCount)")
        }
        unshown = []
    }

    private func checkOnce(_ duty: Duty) throws {
        guard let answered = duty.effects.firstIndex(where: \.isAnswered) else { return }
        guard answered == duty.effects.count - 1 else {
            throw SimulationError.broken("\(duty.kind.rawValue) of \(duty.mark) was done again after an answer")
        }
    }
}
