import AppStore
import ArgumentParser
import Entitlements
import Foundation
import HTTPSupport
import Proofs
import Vocabulary

struct StoreActionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "actions",
        abstract: "Ask the stores for refunds, cancellations and moved charges, and approve those of others.",
        subcommands: [
            StoreActionsList.self, StoreActionsRequest.self, StoreActionsShow.self, StoreActionsApprove.self,
            StoreActionsDecline.self,
        ],
        defaultSubcommand: StoreActionsList.self)
}

/// The shown part of an action.
private struct ShownAction: Decodable, Listed, Sendable {
    static let listName = "storeActions"

    let actionId: String
    let kind: String
    let store: String
    let transaction: String?
    let productId: String
    let state: String
    let requestedBy: String
    let requestedByName: String?
    let requestedAt: String
    let terms: JSONContent
    let reason: String
    let lastError: String?

    /// The outcome of the action, as a sentence.
    var sentence: String {
        switch StoreAction.State(rawValue: state) {
        case .awaitingApproval: "Another person must approve it: till actions approve \(actionId)"
        case .waiting: "\(store) has not answered yet. The service asks again."
        case .accepted: "\(store) has accepted it. Its statement follows."
        case .confirmed: "\(store) has done it."
        case .refused: "\(store) has refused it."
        case .declined: "The team has declined it."
        case nil: "It is \(state)."
        }
    }
}

extension Terminal {
    fileprivate func result(_ action: Answered<ShownAction>) throws {
        line("\(action.kind) of \(action.productId): \(action.state). \(action.sentence)")
        // The person who approves it must see what it is.
        line("Terms: \(String(decoding: try JSONAnswer.encode(action.terms), as: UTF8.self))")
        try result(action.lastError ?? "Action \(action.actionId).", action)
    }
}

extension StoreAction.Kind: ExpressibleByArgument {}
extension StoreAction.State: ExpressibleByArgument {}

/// A field of an action with its value, such as `days=30`.
struct StoreActionArgument: ExpressibleByArgument, Sendable {
    let field: StoreActionField
    let value: any Encodable & Sendable

    init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let field = StoreActionField(rawValue: parts[0]) else { return nil }
        self.field = field
        switch field.rule.value {
        case .flag:
            guard let flag = Bool(parts[1]) else { return nil }
            value = flag
        case .number:
            guard let number = Int(parts[1]) else { return nil }
            value = number
        case .choice: value = parts[1]
        case .countries: value = parts[1].split(separator: ",").map(String.init)
        case .request:
            guard let bytes = try? FileHandle.bytes(of: parts[1], upTo: JSONBody.standardSize),
                let content = try? JSONDecoder().decode(JSONContent.self, from: Data(bytes))
            else { return nil }
            value = content
        }
    }

    /// The lines of the help: each action with its stores and fields.
    static var help: String {
        StoreAction.Kind.allCases.map { kind in
            let endpoints = kind.rule.endpoints.map { endpoint in
                "\(endpoint.store.name) with \(endpoint.fields.map(\.rawValue).joined(separator: ", "))"
            }
            return "\(kind.rawValue) (\(endpoints.joined(separator: "; ")))"
        }.joined(separator: ", ")
    }
}

struct StoreActionsRequest: ServiceCaller {
    static let configuration = CommandConfiguration(
        "request", "Ask the store of a purchase for an action.",
        """
        The actions: \(StoreActionArgument.help). Apple lets no server refund or cancel what no server has described: the customer asks \
        at https://reportaproblem.apple.com. `request` names a file with Apple's request. The same request with the same --action-id happens once. So does one with another \
        identifier, unless it would add to a moved charge, which needs --additional for \(StoreAction.repetitionDays) days.
        """,
        examples: """
            till actions request refund GPA.3345-1234-5678-90123 takesGoods=true \\
              --reason "Bought twice"
            till actions request extend 2000000000000001 days=30 --reason Outage
            till actions request extendAll com.example.monthly days=3 --reason Outage
            """)

    @Argument(help: "The action: \(StoreAction.Kind.allCases.map(\.rawValue).joined(separator: ", ")).")
    var kind: StoreAction.Kind

    @Argument(help: "The transaction as `till story` names it, or the product of extendAll.")
    var reference: String

    @Argument(help: .value("field=value", "The fields of the action, such as days=30."))
    var fields: [StoreActionArgument] = []

    @Option(help: .reason)
    var reason: String

    @Option(help: .value("uuid", "The identifier of the action (default: a new one)."))
    var actionId: String?

    @Flag(help: "Move a charge once more that an action has moved in the last \(StoreAction.repetitionDays) days.")
    var additional = false

    @Option(name: .customLong("bundle-id"), help: .bundleIdentifier("if several may be meant"))
    var app: String?

    @Option(help: .value("origin", "The origin of the purchase (if several may be meant)."))
    var origin: Origin?

    @OptionGroup var call: CallOptions

    func validate() throws {
        try require(
            actionId.map { UUID(uuidString: $0) != nil } ?? true,
            "--action-id must be a UUID; it is \"\((actionId ?? "").prefix(64))\".")
    }

    func perform() async throws {
        let isOfProduct = kind.rule.object == .product
        var members: [String: any Encodable & Sendable] = ["kind": kind.rawValue, "reason": reason]
        members[isOfProduct ? "product" : "transaction"] = reference
        if additional { members["isAdditional"] = true }
        if let app { members["app"] = app }
        if let origin { members["origin"] = origin.rawValue }
        for each in fields { members[each.field.rawValue] = each.value }
        let identifier = actionId ?? UUID().uuidString.lowercased()
        let action: Answered<ShownAction> = try await put(
            "/v1/store-actions/\(HTTPServiceConnection.segment(identifier))", Report(members))
        try terminal.result(action)
    }
}

struct StoreActionsList: ServiceCaller {
    static let configuration = CommandConfiguration(
        "list", "List the actions that stores were asked for, newest first.",
        examples: """
            till actions
            till actions list awaitingApproval
            """)

    @Argument(help: "The state: \(StoreAction.State.allCases.map(\.rawValue).joined(separator: ", ")) (default: all).")
    var selected: StoreAction.State?

    @OptionGroup var list: ListLimit

    @OptionGroup var call: CallOptions

    var need: ConfigurationNeed { .none }

    func perform() async throws {
        let actions: [Answered<ShownAction>] = try await elements(
            of: "/v1/store-actions", [("state", selected?.rawValue)], upTo: list)
        try terminal.list(
            ["ACTION", "KIND", "STATE", "REFERENCE", "PRODUCT", "REQUESTED", "BY", "REASON"], actions,
            orElse: "No store was asked for an action."
        ) { action in
            [
                action.actionId, action.kind, action.state, action.transaction, action.productId, action.requestedAt,
                action.requestedByName ?? action.requestedBy, action.reason,
            ]
        }
    }
}

/// The argument that names an action.
struct StoreActionIdentifier: ParsableArguments {
    @Argument(help: "The action, as `till actions` names it.")
    var action: String

    var path: String { "/v1/store-actions/\(HTTPServiceConnection.segment(action))" }
}

struct StoreActionsShow: ServiceCaller {
    static let configuration = CommandConfiguration(
        "show", "Show an action, and what the store has answered.",
        examples: "till actions show 4c2f8c6e-1f0f-4b0a-9a55-2f1b7e3c9d10 --json")

    @OptionGroup var identifier: StoreActionIdentifier

    @OptionGroup var call: CallOptions

    var need: ConfigurationNeed { .none }

    func perform() async throws {
        let action: Answered<ShownAction> = try await get(identifier.path)
        try terminal.result(action)
    }
}

struct StoreActionsApprove: ServiceCaller {
    static let configuration = CommandConfiguration(
        "approve", "Approve an action that somebody else has requested.",
        "The service asks for it with `store-action-approval`. Use the API key of another person (`till keys make --person`).",
        examples: "till actions approve 4c2f8c6e-1f0f-4b0a-9a55-2f1b7e3c9d10")

    @OptionGroup var identifier: StoreActionIdentifier

    @OptionGroup var call: CallOptions

    func perform() async throws {
        let action: Answered<ShownAction> = try await put("\(identifier.path)/decision", ["isApproved": true])
        try terminal.result(action)
    }
}

struct StoreActionsDecline: ServiceCaller {
    static let configuration = CommandConfiguration(
        "decline", "Decline an action before the store is asked.",
        examples: "till actions decline 4c2f8c6e-1f0f-4b0a-9a55-2f1b7e3c9d10")

    @OptionGroup var identifier: StoreActionIdentifier

    @OptionGroup var call: CallOptions

    func perform() async throws {
        let action: Answered<ShownAction> = try await put("\(identifier.path)/decision", ["isApproved": false])
        try terminal.result(action)
    }
}
