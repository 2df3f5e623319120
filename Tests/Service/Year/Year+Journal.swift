import AppStore
import Entitlements
import Features
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs
import Service
import ServiceLifecycle
import TestSupport
import Testing

/// The team's back end in a recorded year: it asks the App Store Server API, and receives webhooks.
struct YearBackEnd: Sendable {
    /// On a connection to the store.
    let store: TestClient
    let key: AppStoreServerKey
    let receiver: WebhookReceiver
    /// The identifier of the webhook.
    let webhook: String

    /// Runs a back end, and the sender of its webhooks, beside a body.
    static func running<Value: Sendable>(
        _ fixture: YearFixture,
        _ store: TestClient,
        _ body: (YearBackEnd) async throws -> Value
    ) async throws -> Value {
        var privateKey = ""
        let made = try fixture.store.makeTeamKey { privateKey = $1 }
        let receiver = try await WebhookReceiver()
        let backEnd = YearBackEnd(
            store: store,
            key: try AppStoreServerKey(
                privateKey: privateKey, keyIdentifier: made.keyIdentifier, issuerIdentifier: made.issuerIdentifier,
                bundleIdentifier: YearFixture.bundleIdentifier),
            receiver: receiver,
            webhook: try await fixture.webhooks.add(try WebhookURL(receiver.url, allowsPlain: true), by: "tests")
                .identifier)
        let sender = fixture.webhooks.sender(
            metrics: ServiceMetrics(), logger: ServiceFixture.logger)
        let senders = ServiceGroup(services: [sender], logger: ServiceFixture.logger)
        async let ended: Void = senders.run()
        let value = try await body(backEnd)
        await senders.triggerGracefulShutdown()
        try await ended
        return value
    }
}

/// What a recorded year has told so far.
struct YearJournal: Sendable {
    let customers: [String]
    var lines: [String] = []
    /// The number of lines when everybody had heard of everything the last time.
    fileprivate var linesBefore = 0
    /// The numbers of notifications and messages to the webhook that the lines have.
    fileprivate var notifications = 0
    fileprivate var messages = 0
    /// The entries of stories that the lines have.
    fileprivate var entries: Set<String> = []
    /// The last line about each subject that changes, such as the items of a customer.
    fileprivate var last: [String: String] = [:]

    init(of year: RecordedYear) { customers = year.customers }
}

/// The journal of a year: a line for each thing that happens, in the order of time.
///
/// A line begins with its day, in the time of the customer. `>` is an event of the script. The state of a subscription is that of the
/// App Store Server API. It has a line where it is not the one that the last notification about the subscription has told.
extension Year {
    /// Plays a recorded year.
    ///
    /// - Returns: The lines of its journal.
    static func journal(of year: RecordedYear) async throws -> [String] {
        try await playing(year, .prompt, YearJournal(of: year)) { played in
            let lines = await played.journal?.lines ?? []
            return lines + (try await played.figures())
        }
    }

    /// Plays a recorded year with notifications and purchases that come late, twice or in another order.
    ///
    /// - Returns: What the customers have in the end, as the lines of the journal without their days, and the figures.
    static func end(of year: RecordedYear, seed: UInt64) async throws -> [String] {
        let faults = try year.notifications().count - 2
        return try await playing(year, .disturbed(seed: seed, faults: max(1, faults)), nil) { played in
            try await played.catchUpDelivery()
            return try await played.possessions(of: year.customers) + played.figures()
        }
    }

    private static func playing(
        _ year: RecordedYear,
        _ delivery: Delivery,
        _ journal: YearJournal?,
        _ body: @Sendable @escaping (Year) async throws -> [String]
    ) async throws -> [String] {
        let fixture = try await YearFixture()
        let store = fixture.store.routes(sandboxKey: APIKey("key"), clock: fixture.clock)
        return try await Application(router: store.router()).test(.live) { store in
            try await Application(router: fixture.routes.router()).test(.live) { client in
                try await YearBackEnd.running(fixture, store) { backEnd in
                    let played = Year(
                        fixture, client, delivery, events: year.events, backEnd: backEnd, journal: journal)
                    try await played.live()
                    return try await body(played)
                }
            }
        }
    }

    private func figures() async throws -> [String] {
        try await fixture.figures.sweep()
        try await fixture.figures.rollUp()
        var lines: [String] = []
        for figure in Figure.allCases { lines += try await figureLines(figure.rawValue).map { "figure \($0)" } }
        return lines
    }

    private func possessions(of customers: [String]) async throws -> [String] {
        var lines: [String] = []
        for customer in customers {
            lines.append(names.shortened("items \(customer): \(try await items(of: customer))"))
            lines.append(names.shortened("subscriptions \(customer): \(try await subscriptions(of: customer))"))
        }
        return lines
    }

    /// Waits until everybody has heard of what has happened, and writes what is new.
    func tell() async throws {
        guard let journal else { return }
        try await presentWhatIsDue()
        try await deliver()
        try await fixture.service.recordDueStates()
        for customer in fixture.service.customers { try await fixture.service.recordDueStates(of: customer) }
        try names.add(store, of: journal.customers)
        names.add(String(fixture.key.split(separator: "_")[1]), as: "tests")
        try tellNotifications()
        let messages = try await messages()
        // On most days nothing happens, and the customers own what they did.
        let hasNews = self.journal?.lines.count != journal.linesBefore || !messages.isEmpty
        if hasNews {
            for customer in journal.customers { try await tellStory(of: customer) }
            tell(messages)
            for customer in journal.customers { try await tellStates(of: customer) }
        }
        for customer in journal.customers {
            try await tellItems(of: customer)
            if hasNews { try await tellSeats(of: customer) }
        }
        let count = self.journal?.lines.count ?? 0
        self.journal?.linesBefore = count
    }

    private func tellNotifications() throws {
        let words = StatementWords(verifier: fixture.verifier)
        let all = try store.notifications()
        for sent in all.dropFirst(journal?.notifications ?? 0) {
            let payload = try words.notification(sent.signedPayload)
            var parts = [[payload.notificationType, payload.subtype].compactMap(\.self).joined(separator: " ")]
            if case .object(let data)? = payload.fields["data"] {
                if case .string(let sale)? = data["signedTransactionInfo"] { parts.append(try words.sale(sale)) }
                if case .string(let renewal)? = data["signedRenewalInfo"],
                    case .number(let status)? = data["status"], let status = Int64(status.text)
                {
                    parts.append(try words.renewal(renewal, status: status))
                    journal?.last["state \(sent.originalTransactionIdentifier ?? "")"] = names.shortened(
                        parts.dropFirst().joined(separator: " | "))
                }
                if case .string(let reason)? = data["consumptionRequestReason"] { parts.append("reason \(reason)") }
            }
            if case .object(let seats)? = payload.fields["unclaimInfo"],
                case .array(let claims)? = seats["unclaimSeatIds"]
            {
                for case .string(let claim) in claims { parts.append(claim) }
            }
            if sent.sendAttempts.map(\.result) != [.success] { parts.append("not delivered") }
            add("notification", parts.joined(separator: " | "), at: payload.signedDate.rfc3339)
        }
        journal?.notifications = all.count
    }

    private func tellStory(of customer: String) async throws {
        let page = try await send(.get, "/v1/users/\(customer)/story?pageSize=100").decoded(
            List<StoryEntryResource>.self)
        for entry in page.elements.reversed() {
            let identity = [
                customer, entry.happenedAt, entry.kind, entry.reference, entry.text,
                entry.notification?.notificationUUID,
            ]
            let isNew = journal?.entries.insert(identity.compactMap(\.self).joined(separator: " ")).inserted
            guard isNew == true else { continue }
            let line = try storyLine(entry).split(separator: " ", maxSplits: 1)
            add("story \(customer):", line.last.map(String.init) ?? "", at: entry.happenedAt)
        }
    }

    /// Waits until the webhook has everything that is new.
    private func messages() async throws -> [WebhookMessageResource] {
        let (webhooks, backEnd) = (fixture.webhooks, try #require(backEnd))
        try await expectEventually {
            try await webhooks.deliveries(to: backEnd.webhook, in: .pending, before: nil, limit: 1).isEmpty
        }
        let all = backEnd.receiver.received
        defer { journal?.messages = all.count }
        return try all.dropFirst(journal?.messages ?? 0).map { try $0.decoded(WebhookMessageResource.self) }
    }

    private func tell(_ messages: [WebhookMessageResource]) {
        func order(_ message: WebhookMessageResource) -> (String, String, Int64) {
            (message.timestamp, message.data.user.name, message.data.number)
        }
        for message in messages.sorted(by: { order($0) < order($1) }) {
            let data = message.data
            let words = [
                message.type, data.transactionId ?? data.originalTransactionId ?? data.grantId, data.productId,
                data.item?.description, data.reason.map { "(\($0))" },
            ]
            add(
                "webhook \(data.user.name):", words.compactMap(\.self).joined(separator: " "), at: message.timestamp)
        }
    }

    private func tellStates(of customer: String) async throws {
        struct Statuses: Decodable {
            struct Group: Decodable {
                let lastTransactions: [Last]
            }

            struct Last: Decodable {
                let originalTransactionId: String
                let status: Int64
                let signedTransactionInfo: String
                let signedRenewalInfo: String
            }

            let data: [Group]
        }
        guard let latest = try store.history(of: customer).last else { return }
        let statuses = try await ask(.get, "/inApps/v1/subscriptions/\(latest.transactionIdentifier)").decoded(
            Statuses.self)
        let words = StatementWords(verifier: fixture.verifier)
        for last in statuses.data.flatMap(\.lastTransactions) {
            let sale = try words.sale(last.signedTransactionInfo)
            let renewal = try words.renewal(last.signedRenewalInfo, status: last.status)
            try tellChange(
                of: "state \(last.originalTransactionId)", as: "state", "\(sale) | \(renewal)", for: customer)
        }
    }

    private func tellItems(of customer: String) async throws {
        try tellChange(of: "items \(customer)", as: "items", try await items(of: customer), for: customer)
        let subscriptions = try await subscriptions(of: customer)
        try tellChange(of: "subscriptions \(customer)", as: "subscriptions", subscriptions, for: customer)
    }

    /// The items of a customer that are not everybody's.
    private func items(of customer: String) async throws -> String {
        Self.words(
            try await send(.get, "/v1/users/\(customer)/items").decoded(List<OwnedItemResource>.self).elements)
    }

    static func words(_ items: [OwnedItemResource]) -> String {
        list(
            items.filter { $0.number > 0 }.map { item in
                [
                    item.item.description, item.state, "since", item.since, item.until.map { "until \($0)" },
                    item.renews == true ? "renews" : nil,
                ]
            })
    }

    private func subscriptions(of customer: String) async throws -> String {
        let path = "/v1/users/\(customer)/subscriptions"
        return Self.words(try await send(.get, path).decoded(List<UserSubscriptionResource>.self).elements)
    }

    static func words(_ subscriptions: [UserSubscriptionResource]) -> String {
        list(
            subscriptions.map { subscription in
                [
                    subscription.productId, subscription.state, "since", subscription.since,
                    subscription.until.map { "until \($0)" },
                    subscription.pausedUntil.map { "paused until \($0)" },
                    subscription.nextProductId.map { "then \($0)" },
                    subscription.renews.map { $0 ? "renews" : "ends" }, subscription.expirationReason,
                ]
            })
    }

    private static func list(_ elements: [[String?]]) -> String {
        let texts = elements.map { $0.compactMap(\.self).joined(separator: " ") }
        return texts.isEmpty ? "none" : texts.joined(separator: ", ")
    }

    /// Writes a line about a subject if it is not as in its last line.
    private func tellChange(of subject: String, as kind: String, _ text: String, for customer: String) throws {
        let text = names.shortened(text)
        guard journal?.last[subject] ?? "none" != text else { return }
        journal?.last[subject] = text
        // The store does not know a customer who has bought nothing.
        let time = (try? store.time(of: customer)) ?? store.now
        add("\(kind) \(customer):", text, at: time.rfc3339)
    }

    private func add(_ kind: String, _ text: String, at date: String) {
        journal?.lines.append(names.shortened("\(date) \(kind) \(text)"))
    }
}

/// The App Store Server API, which the team's back end asks.
extension Year {
    func claimSeat(of customer: String) async throws {
        struct Claim: Decodable {
            let seatClaimId: String
        }
        let request = UUID().uuidString.lowercased()
        let claim = try await ask(
            .post, try seatsPath(of: customer), body: #"{"requestIdentifier":"\#(request)"}"#
        ).decoded(Claim.self).seatClaimId
        claims.append((claim, customer))
        names.add(claim, as: "claim.\(claims.count)")
    }

    /// - Parameter claim: Its name in the journal.
    func unclaimSeat(_ claim: String, of customer: String) async throws {
        let number = try #require(claim.split(separator: ".").last.flatMap { Int($0) })
        try await ask(.delete, "\(try seatsPath(of: customer))/\(claims[number - 1].claim)")
    }

    /// Writes the seats of a customer's subscription, from the first claim on.
    private func tellSeats(of customer: String) async throws {
        struct Seats: Decodable {
            let totalSeatCount: Int
            let availableSeatCount: Int
            let assignedSeatClaimIds: [String]
        }
        guard claims.contains(where: { $0.customer == customer }) else { return }
        let seats = try await ask(.get, try seatsPath(of: customer)).decoded(Seats.self)
        let words =
            ["\(seats.availableSeatCount) of \(seats.totalSeatCount) available"]
            + (seats.assignedSeatClaimIds.isEmpty ? [] : ["claimed"]) + seats.assignedSeatClaimIds
        try tellChange(of: "seats \(customer)", as: "seats", words.joined(separator: " "), for: customer)
    }

    private func seatsPath(of customer: String) throws -> String {
        "/groups/v1/transactions/\(try subscription(of: customer))/seats"
    }

    @discardableResult
    private func ask(_ method: HTTPRequest.Method, _ path: String, body: String? = nil) async throws
        -> ServiceFixture.Answer
    {
        let backEnd = try #require(backEnd)
        let headers: HTTPFields = [.authorization: "Bearer \(try backEnd.key.token(at: fixture.clock.now()))"]
        let response = try await backEnd.store.executeRequest(
            uri: path, method: method, headers: headers, body: body.map { ByteBuffer(string: $0) })
        let answer = ServiceFixture.Answer(
            status: response.status.code, headers: response.headers, body: .init(response.body.readableBytesView))
        #expect(answer.status == 200, "\(method) \(path): \(String(decoding: answer.body, as: UTF8.self))")
        return answer
    }
}
