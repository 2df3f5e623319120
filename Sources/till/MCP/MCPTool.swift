import AppStore
import Foundation
import HTTPSupport
import Proofs
import Service
import Vocabulary

/// A tool for an agent: an operation of the service's HTTP API, under a name and with a description that teach when to use it.
///
/// Its arguments are the parameters and the fields of the body that the OpenAPI document describes, and the service checks them.
struct MCPTool {
    let name: String
    private let title: String
    private let explanation: String
    /// Nil for the health of the service, which several operations tell.
    private let operation: DescribedOperation?
    /// The values of parameters and fields that the tool sets itself.
    private let fixed: JSONObject
    /// The arguments that `confirm` repeats; none for a tool that changes nothing.
    private let targets: [String]

    /// True for a tool that changes something.
    var isAction: Bool { !targets.isEmpty }

    /// The scope that the API key needs; nil for none.
    var scope: String? { operation?.scope }

    /// A row of the list of tools.
    private struct Row {
        let name: String
        let operation: String
        let title: String
        let explanation: String
        var fixed: JSONObject = [:]
        /// The names of the arguments; nil for all.
        var arguments: [String]?
        var targets: [String] = []
    }

    private static let questions = [
        Row(
            name: "search", operation: "searchUsers", title: "Find customers",
            explanation:
                "Finds customers by a part of their name, by their whole account token, e-mail address, phone number or display name, or by a day with a product or an amount (2026-11-03 4.99). Nobody may have verified an address."
        ),
        Row(
            name: "find_purchase", operation: "findTransaction", title: "Find a purchase",
            explanation:
                "Finds the owner of a transaction or an order, what the purchase gives, and all that the store has stated. Use it for a number on a receipt."
        ),
        Row(
            name: "why", operation: "explainItem", title: "Explain an item",
            explanation:
                "Explains why a customer has an item, or does not, and what would help. Prefer it to own conclusions."),
        Row(
            name: "story", operation: "tellStory", title: "History of a customer",
            explanation:
                "Lists what happened to a customer, newest first: purchases, renewals, refunds, refusals, actions of the team."
        ),
        Row(
            name: "refusals", operation: "tellStory", title: "Refusals of a customer",
            explanation:
                "Lists the purchases of a customer that the service has refused, each with the cause and the remedy.",
            fixed: ["kind": "refusals"]),
        Row(
            name: "owned", operation: "listUserItems", title: "Items of a customer",
            explanation: "Lists what a customer owns now, with source, state and end of each item."),
        Row(
            name: "subscriptions", operation: "listUserSubscriptions", title: "Subscriptions of a customer",
            explanation: "Lists the subscriptions of a customer, with their state and what comes next."),
        Row(
            name: "purchases", operation: "listUserTransactions", title: "Purchases of a customer",
            explanation: "Lists the transactions of a customer, newest first, with price, date, storefront and refund."),
        Row(
            name: "balances", operation: "listUserBalances", title: "Balances of a customer",
            explanation: "Lists the balances of a customer, such as coins."),
        Row(
            name: "gifts", operation: "listUserGrants", title: "Gifts of the team",
            explanation:
                "Lists what the team has given to a customer, with the reasons. revoke_gift needs a grantId of these."),
        Row(
            name: "unclaimed", operation: "listUnclaimed", title: "Unclaimed purchases",
            explanation:
                "Lists purchases that were paid and that nobody has redeemed. Look here if a customer paid and has nothing."
        ),
        Row(
            name: "store_actions", operation: "listStoreActions", title: "Actions at the stores",
            explanation:
                "Lists the refunds, cancellations and moved charges that the stores were asked for, with their answers."
        ),
        Row(
            name: "figure_definitions", operation: "listFigures", title: "Definitions of the figures",
            explanation: "Lists the sales figures, with the definition of each."),
        Row(
            name: "figures", operation: "getFigure", title: "A sales figure",
            explanation:
                "Returns a sales figure by day, week or month. Money is in thousandths of its currency, and currencies are never added up."
        ),
    ]

    private static let actions = [
        Row(
            name: "give", operation: "grantItem", title: "Give an item",
            explanation: "Gives a customer an item without a purchase, for good or until a date.",
            targets: ["item", "user"]),
        Row(
            name: "revoke_gift", operation: "revokeGrant", title: "Revoke a gift",
            explanation: "Takes back what the team has given.", targets: ["grant"]),
        Row(
            name: "revoke", operation: "revokeTransaction", title: "Revoke a purchase",
            explanation: "Takes a purchase back from a customer. It pays no money back: see refund.",
            targets: ["transaction"]),
        Row(
            name: "reinstate", operation: "reinstateTransaction", title: "Reinstate a purchase",
            explanation: "Gives a purchase back that the team has revoked.", targets: ["transaction"]),
        Row(
            name: "assign", operation: "assignUnclaimed", title: "Assign an unclaimed purchase",
            explanation:
                "Gives a customer a purchase that nobody has redeemed. Be sure that it is theirs: they name its order number, or equal evidence.",
            targets: ["transaction", "user"]),
        Row(
            name: "refund", operation: "requestStoreAction", title: "Refund an order",
            explanation:
                "Asks Google Play to pay an order back. Only the customer asks Apple: https://reportaproblem.apple.com.",
            fixed: ["kind": "refund"], arguments: ["transaction", "takesGoods", "reason", "origin", "app"],
            targets: ["transaction"]),
        Row(
            name: "cancel", operation: "requestStoreAction", title: "Cancel a subscription",
            explanation: "Asks Google Play to turn the renewal of a subscription off. The paid period stays.",
            fixed: ["kind": "cancel"], arguments: ["transaction", "stops", "reason", "origin", "app"],
            targets: ["transaction"]),
        Row(
            name: "end_subscription", operation: "requestStoreAction", title: "End a subscription with money back",
            explanation: "Asks Google Play to end a subscription at once, and to pay back what share says.",
            fixed: ["kind": "revoke"], arguments: ["transaction", "share", "reason", "origin", "app"],
            targets: ["transaction"]),
        Row(
            name: "extend", operation: "requestStoreAction", title: "Extend a subscription",
            explanation: "Asks the store to move the next charge of a subscription by some days, as a compensation.",
            fixed: ["kind": "extend"],
            arguments: ["transaction", "days", "cause", "isAdditional", "reason", "origin", "app"],
            targets: ["transaction"]),
    ]

    /// All tools, whatever the API key may.
    ///
    /// - Throws: `CommandError` for a row that names no operation.
    static func all() throws -> [MCPTool] {
        let document = JSONObject(try OpenAPIDocument.composed.get().json)
        let doctor = MCPTool(
            name: "doctor", title: "Health of the service",
            explanation:
                "Tells if the service and its ledger answer, what the API key may, and with the scope metrics what is missed.",
            operation: nil, fixed: [:], targets: [])
        return [doctor]
            + (try (questions + actions).map { row in
                guard
                    let operation = DescribedOperation(
                        row.operation, in: document, taking: row.arguments, requiring: row.targets)
                else { throw CommandError("failed", "The API has no operation \"\(row.operation)\" for a back end.") }
                return MCPTool(
                    name: row.name, title: row.title, explanation: row.explanation, operation: operation,
                    fixed: row.fixed, targets: row.targets)
            })
    }

    /// The arguments that an agent gives. The identifier of a store's action is new each time.
    private var arguments: [DescribedOperation.Argument] {
        (operation?.arguments ?? []).filter { fixed[$0.name] == nil && $0.name != "action" }
    }

    /// The form of `confirm`, with the names of arguments in braces.
    private var confirmation: String {
        targets.map { $0 == "item" ? "{collection} {number}" : "{\($0)}" }.joined(separator: " to ")
    }

    /// The tool in the answer to `tools/list`.
    var description: JSONObject {
        var properties = arguments.map { ($0.name, JSONValue.object($0.schema)) }
        var required = arguments.filter(\.isRequired).map(\.name)
        if isAction {
            let meaning = "The text \"\(confirmation)\" with this action's values, after a person has agreed to it."
            properties.append(("confirm", .object(["type": "string", "description": .string(meaning)])))
            required.append("confirm")
        }
        return [
            "name": .string(name), "title": .string(title), "description": .string(explanation),
            "inputSchema": .object([
                "type": "object", "properties": .object(JSONObject(properties)),
                "required": .array(required.map { .string($0) }), "additionalProperties": .bool(false),
            ]),
            "annotations": .object([
                "title": .string(title), "readOnlyHint": .bool(!isAction),
                "destructiveHint": .bool(isAction), "openWorldHint": .bool(scope == "stores"),
            ]),
        ]
    }

    /// Asks the service.
    ///
    /// - Returns: The answer of the service as text, and as an object.
    func call(_ arguments: JSONObject, _ client: ServiceClient) async throws -> (text: String, object: JSONObject) {
        // Agents state an argument that they leave out as null.
        let given = JSONObject(arguments.members.filter { $0.value != .null }.map { ($0.key, $0.value) })
        try check(given)
        guard let operation else {
            let report = try await Self.health(client)
            return (JSONValue.object(report).compactText, report)
        }
        let path = try operation.path(
            given.adding(fixed).adding(["action": .string(UUID().uuidString.lowercased())]))
        let body = operation.body(given).map { JSONValue.object($0.adding(fixed)).compactBytes }
        do {
            let answer = try await client.bytes(operation.method, path, body: body)
            return (String(decoding: answer, as: UTF8.self), try Self.object(answer))
        } catch let failure as ServiceUnreachable where isAction {
            throw CommandError(
                failure.code,
                "The service gave no usable answer: \(failure.reason). The action may have been done. Read gifts, story or store_actions before you repeat it."
            )
        }
    }

    /// The object in an answer of the service.
    private static func object(_ answer: [UInt8]) throws(ServiceUnreachable) -> JSONObject {
        let limits = JSONParser.Limits(bytes: answer.count, depth: 64)
        guard case .object(let object)? = try? JSONParser.parse(answer, limits: limits) else {
            throw ServiceUnreachable(reason: "its answer has another form than Till's")
        }
        return object
    }

    /// - Throws: `CommandError` for an unknown or a missing argument, and for an action that is not confirmed.
    private func check(_ given: JSONObject) throws(CommandError) {
        let names = arguments.map(\.name) + (isAction ? ["confirm"] : [])
        if let unknown = given.keys.first(where: { key in !names.contains { $0.hasSameBytes(as: key) } }) {
            throw CommandError(
                DescribedOperation.argumentInvalid,
                "There is no argument \"\(unknown.prefix(64))\". The tool has: \(names.joined(separator: ", ")).")
        }
        if let missing = arguments.first(where: { $0.isRequired && given[$0.name] == nil }) {
            throw CommandError(DescribedOperation.argumentInvalid, "The argument \"\(missing.name)\" is missing.")
        }
        guard isAction else { return }
        var texts: [String] = []
        for target in targets {
            guard let text = given[target]?.textOfTarget else {
                throw CommandError(
                    DescribedOperation.argumentInvalid,
                    target == "item"
                        ? "The argument \"item\" must be an object of `collection`, a string, and `number`, an integer."
                        : "The argument \"\(target)\" must be a string.")
            }
            texts.append(text)
        }
        guard let confirmed = given.text("confirm"), confirmed.hasSameBytes(as: texts.joined(separator: " to ")) else {
            throw CommandError(
                DescribedOperation.argumentInvalid,
                "The action is not confirmed. Ask the person, then give `confirm` the text \"\(confirmation)\" with the values of the action."
            )
        }
    }

    /// The sentence about an error, with its code.
    static func message(of error: any Error) -> String {
        (error as? any CodedError).map { "\($0.code): \($0.message)" } ?? "\(error)"
    }

    private static func key(_ client: ServiceClient) async throws -> JSONObject {
        try object(try await client.bytes(.get, "/v1/key"))
    }

    /// The scopes of the API key, as the service states them.
    static func scopes(_ client: ServiceClient) async throws -> Set<String> {
        guard case .array(let scopes)? = try await key(client)["scopes"] else {
            throw ServiceUnreachable(reason: "its answer has another form than Till's")
        }
        return Set(scopes.compactMap { if case .string(let scope) = $0 { scope } else { nil } })
    }

    /// The metrics that tell of a fault.
    private static let gauges = [
        "till_ledger_up", "till_duties_missed", "till_storage_almost_full", "till_last_reload_successful",
        "till_tls_certificate_end_seconds", "till_queue_depth",
    ]

    /// The health of the service: each part, or why it does not answer.
    private static func health(_ client: ServiceClient) async throws -> JSONObject {
        func part(_ read: () async throws -> JSONValue) async -> JSONValue {
            do { return try await read() } catch { return .string(message(of: error)) }
        }
        return [
            "ready": await part {
                let _: NoContent = try await client.get("/health/ready")
                return .bool(true)
            },
            "key": await part { .object(try await key(client)) },
            "metrics": await part {
                let text = String(decoding: try await client.bytes(.get, "/metrics"), as: UTF8.self)
                return .array(
                    text.split(separator: "\n").filter { line in gauges.contains { line.hasPrefix($0) } }
                        .map { .string(String($0)) })
            },
        ]
    }
}

extension JSONValue {
    /// The text of a name or an item, as `confirm` repeats it; nil for another value.
    fileprivate var textOfTarget: String? {
        switch self {
        case .string(let text): return text
        case .object(let item):
            guard let collection = item.text("collection"), case .number(let number)? = item["number"] else {
                return nil
            }
            return "\(collection) \(number.text)"
        case .number, .bool, .array, .null: return nil
        }
    }
}
