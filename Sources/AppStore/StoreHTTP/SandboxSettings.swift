import Catalog
import Foundation
import HTTPSupport
import Proofs

/// A setting of the store. The sandbox's requests and answers, the output of `till store settings` and the console's form
/// follow from the table `all`.
package struct StoreSetting: Sendable {
    package typealias Change = @Sendable (inout StoreSettings) -> Void

    /// The part of the console's form, by its heading.
    package enum Section: String, Sendable, CaseIterable {
        case customer = "Customer"
        case subscriptions = "Subscriptions"
        case errors = "Simulated errors"
        case server = "Server"
    }

    package enum Kind: Sendable {
        case flag(WritableKeyPath<StoreSettings, Bool> & Sendable)
        case text(Text)
        /// A number. Zero removes it.
        case number(WritableKeyPath<StoreSettings, Int64?> & Sendable, atLeast: Int64?)
        /// The errors of StoreKit's calls.
        case simulatedErrors
    }

    /// A value with a text, such as a name or an address.
    package struct Text: Sendable {
        package typealias Choice = (value: String, title: String)

        /// The text of the value; nil for none.
        package let text: @Sendable (StoreSettings) -> String?
        /// The change to the value of a text; nil for a text that is not allowed.
        package let change: @Sendable (String) -> Change?
        package let choices: [Choice]
        package let maximumLength: Int
        package let isRequired: Bool
        package let expected: String
        /// The sentence of a refused request, after the name of the field.
        fileprivate let rule: String

        fileprivate init<Value: Sendable>(
            _ value: WritableKeyPath<StoreSettings, Value> & Sendable,
            _ text: @escaping @Sendable (Value) -> String?,
            _ read: @escaping @Sendable (String) -> Value?,
            choices: [Choice] = [],
            maximumLength: Int = 256,
            isRequired: Bool = false,
            expected: String = "",
            rule: String = ""
        ) {
            self.text = { text($0[keyPath: value]) }
            change = { text in
                guard let new = read(text) else { return nil }
                return { $0[keyPath: value] = new }
            }
            self.choices = choices
            self.maximumLength = maximumLength
            self.isRequired = isRequired
            self.expected = expected
            self.rule = rule
        }
    }

    /// The name in JSON.
    package let name: String
    /// The name of the field in the form.
    package let field: String
    /// The name of the option of `till store settings`: that of the field, unless the row has another.
    package let option: String
    package let section: Section
    /// The label in the form.
    package let title: String
    package let note: String?
    package let kind: Kind

    private init(
        _ name: String,
        _ field: String,
        option: String? = nil,
        _ section: Section,
        _ title: String,
        note: String? = nil,
        _ kind: Kind
    ) {
        (self.name, self.field, self.option, self.section) = (name, field, option ?? field, section)
        (self.title, self.note, self.kind) = (title, note, kind)
    }

    package static let all = [
        StoreSetting(
            "timeRate", "time-rate", .subscriptions, "Time rate",
            .text(
                Text(
                    \.timeRate, \.name, { TimeRate(name: $0) }, choices: TimeRate.allCases.map { ($0.name, $0.name) },
                    expected: "a rate by its name in StoreKitTest",
                    rule: "has to be a rate by its name in StoreKitTest, such as realTime"))),
        StoreSetting(
            "storefront", "storefront", .customer, "Storefront",
            .text(
                Text(
                    \.storefront, \.self, \.self,
                    choices: Storefront.all.map { ($0.countryCode, "\($0.countryCode) (\($0.currency))") },
                    maximumLength: 3, isRequired: true))),
        StoreSetting(
            "locale", "locale", .customer, "Locale",
            .text(Text(\.locale, \.self, \.self, maximumLength: 32, isRequired: true))),
        StoreSetting(
            "isAskToBuyEnabled", "ask-to-buy", .customer,
            "Ask to Buy: payments wait for approval", .flag(\.isAskToBuyEnabled)),
        StoreSetting(
            "areInterruptedPurchasesEnabled", "interrupted-purchases", .customer,
            "Interrupted purchases: payments fail until they are resolved", .flag(\.areInterruptedPurchasesEnabled)),
        StoreSetting(
            "shouldEnterBillingRetryOnRenewal", "failing-renewals", option: "billing-issues", .subscriptions,
            "Billing retry: renewals cannot be charged", .flag(\.shouldEnterBillingRetryOnRenewal)),
        StoreSetting(
            "isBillingGracePeriodEnabled", "grace-period", .subscriptions,
            "Billing grace period after a failed renewal", .flag(\.isBillingGracePeriodEnabled)),
        StoreSetting(
            "failureError", "failure-error", .errors, "Error of every payment (SKError)",
            .text(
                Text(
                    \.failureError, { $0.map { (SKErrorCode(rawValue: $0) ?? .unknown).name } },
                    { $0.isEmpty ? .some(nil) : SKErrorCode(name: $0).map { .some($0.rawValue) } },
                    choices: SKErrorCode.allCases.map { ($0.name, $0.name) }, expected: "an SKError by its name",
                    rule: "has to be an SKError by its name, such as paymentCancelled"))),
        StoreSetting("storeKitErrors", "error-", option: "error", .errors, "Simulated errors", .simulatedErrors),
        StoreSetting(
            "notificationsURL", "notifications-url", .server, "Address of notifications",
            note: "Empty sends no notifications.",
            .text(
                Text(
                    \.notificationsURL, { $0?.absoluteString },
                    { $0.isEmpty ? .some(nil) : URL(web: $0).map { .some($0) } },
                    maximumLength: 1024, expected: "an http or https URL",
                    rule: "must be an http or https URL, or empty"))),
        StoreSetting(
            "sharedSecret", "shared-secret", .server, "Shared secret of verifyReceipt", note: "Empty accepts any.",
            .text(Text(\.sharedSecret, \.self, { $0.isEmpty ? .some(nil) : $0 }))),
        StoreSetting(
            "verifyReceiptStatus", "receipt-status", .server, "Status that verifyReceipt always answers",
            note: "Empty answers the real status.", .number(\.verifyReceiptStatus, atLeast: nil)),
        StoreSetting(
            "serverAPIRequestsPerMinute", "requests-per-minute", .server, "App Store Server API requests a minute",
            note: "Empty sets no limit.", .number(\.serverAPIRequestsPerMinute, atLeast: 1)),
        StoreSetting(
            "serverAPIError", "server-api-error", .server, "Error of every App Store Server API request",
            .text(
                Text(
                    \.serverAPIError, { $0.map { String($0) } },
                    { text in
                        text.isEmpty
                            ? .some(nil) : Int(text).flatMap { ServerAPIError(rawValue: $0) }.map { .some($0.rawValue) }
                    },
                    choices: ServerAPIError.allCases.map { (String($0.rawValue), "\($0.rawValue) \($0)") },
                    expected: "the number of one of Apple's errors",
                    rule: "has to be the number of one of Apple's errors, such as 4040002"))),
        StoreSetting(
            "certificateStatus", "certificate-status", .server, "Status of the certificates (OCSP)",
            .text(
                Text(
                    \.certificateStatus, { $0?.rawValue },
                    { $0.isEmpty ? .some(nil) : CertificateStatus(rawValue: $0).map { .some($0) } },
                    choices: CertificateStatus.allCases.map { ($0.rawValue, $0.rawValue) },
                    expected: "a status that is not good",
                    rule: "must be revokedLeaf, revokedIntermediate, unknown or unavailable, or empty"))),
        StoreSetting(
            "retentionMessageState", "retention-message-state", .server, "Review of retention messages",
            .text(
                Text(
                    \.retentionMessageState, { $0?.rawValue },
                    { $0.isEmpty ? .some(nil) : RetentionReviewState(rawValue: $0).map { .some($0) } },
                    choices: RetentionReviewState.allCases.map { ($0.rawValue, $0.rawValue) },
                    expected: "PENDING or REJECTED", rule: "must be PENDING or REJECTED, or empty"))),
        StoreSetting(
            "retentionImageState", "retention-image-state", .server, "Review of their images",
            .text(
                Text(
                    \.retentionImageState, { $0?.rawValue },
                    { $0.isEmpty ? .some(nil) : RetentionReviewState(rawValue: $0).map { .some($0) } },
                    choices: RetentionReviewState.allCases.map { ($0.rawValue, $0.rawValue) },
                    expected: "PENDING or REJECTED", rule: "must be PENDING or REJECTED, or empty"))),
    ]

    /// The change to a text of the command line. An empty text removes a value that may be missing.
    package func change(to text: String) throws(OptionRefusal) -> Change {
        switch kind {
        case .flag(let path):
            guard let isOn = ["on": true, "off": false][text] else { throw refusal("must be on or off") }
            return { $0[keyPath: path] = isOn }
        case .number(let path, let minimum):
            guard !text.isEmpty else { return { $0[keyPath: path] = nil } }
            guard let number = Int64(text), number >= minimum ?? .min else {
                throw refusal("must be a number\(minimum.map { " of at least \($0)" } ?? ""), or empty")
            }
            return { $0[keyPath: path] = number == 0 ? nil : number }
        case .text(let rule):
            guard !(rule.isRequired && text.isEmpty), text.utf8.count <= rule.maximumLength else {
                throw refusal("must have \(rule.isRequired ? 1 : 0) to \(rule.maximumLength) bytes")
            }
            guard let change = rule.change(text) else { throw refusal(rule.rule) }
            return change
        case .simulatedErrors: throw refusal("must name a call and its error")
        }
    }

    /// The refusal of an option's value, in a sentence.
    package struct OptionRefusal: Error {
        package let sentence: String
    }

    private func refusal(_ rule: String) -> OptionRefusal { OptionRefusal(sentence: "--\(option) \(rule).") }

    /// The value in words, for a command.
    package func words(_ settings: StoreSettings) -> String {
        switch kind {
        case .flag(let path): settings[keyPath: path] ? "on" : "off"
        case .text(let text): text.text(settings) ?? "-"
        case .number(let path, _): settings[keyPath: path].map(String.init) ?? "-"
        case .simulatedErrors where settings.simulatedErrors.isEmpty: "-"
        case .simulatedErrors:
            settings.simulatedErrors.map { "\($0.key.rawValue)=\($0.value.rawValue)" }.sorted()
                .joined(separator: " ")
        }
    }
}

extension URL {
    /// An address of a server; nil for any other text.
    package init?(web text: String) {
        guard let url = URL(string: text), ["http", "https"].contains(url.scheme), url.host()?.isEmpty == false
        else { return nil }
        self = url
    }
}

extension StoreKitCall {
    /// The failure of the call by its name; nil for any other name.
    package func failure(named name: String) -> StoreKitFailure? { failures.first { $0.rawValue == name } }
}

package struct SettingsResource: Encodable, Sendable {
    private let settings: StoreSettings

    package init(_ settings: StoreSettings) {
        self.settings = settings
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: MemberName.self)
        for setting in StoreSetting.all {
            let key = MemberName(stringValue: setting.name)
            switch setting.kind {
            case .flag(let path): try container.encode(settings[keyPath: path], forKey: key)
            case .text(let text): try container.encodeIfPresent(text.text(settings), forKey: key)
            case .number(let path, _): try container.encodeIfPresent(settings[keyPath: path], forKey: key)
            case .simulatedErrors: try container.encode(settings.simulatedErrors, forKey: key)
            }
        }
    }
}

/// Changes to the settings of the store. A missing field keeps its setting. An empty string or a zero removes it.
struct SettingsChanges: SandboxRequest {
    static let schema = Schema.object("Changes of settings. An absent field stays.", named: "SettingsChanges")
        .fields(StoreSetting.all.map { ($0.name, $0.schema(ofChange: true)) }).closed

    private var changes: [StoreSetting.Change] = []

    /// - Throws: `Problem` for an invalid name or address.
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: MemberName.self)
        var problems: [Problem] = []
        for setting in StoreSetting.all {
            let key = MemberName(stringValue: setting.name)
            switch setting.kind {
            case .flag(let path):
                guard let isOn = try container.decodeIfPresent(Bool.self, forKey: key) else { continue }
                changes.append { $0[keyPath: path] = isOn }
            case .number(let path, _):
                guard let number = try container.decodeIfPresent(Int64.self, forKey: key) else { continue }
                changes.append { $0[keyPath: path] = number == 0 ? nil : number }
            case .text(let text):
                guard let value = try container.decodeIfPresent(String.self, forKey: key) else { continue }
                guard let change = text.change(value) else {
                    problems.append(JSONBody.invalid("The field /\(setting.name) \(text.rule)."))
                    continue
                }
                changes.append(change)
            case .simulatedErrors:
                for (name, failure) in try container.decodeIfPresent([String: String].self, forKey: key) ?? [:] {
                    do { changes.append(try Self.change(name, failure)) } catch { problems.append(error) }
                }
            }
        }
        if let problem = problems.first { throw problem }
    }

    private static func change(_ name: String, _ failure: String) throws(Problem) -> StoreSetting.Change {
        guard let call = StoreKitCall(rawValue: name) else {
            throw JSONBody.invalid(
                "The names in /storeKitErrors are \(StoreKitCall.allCases.map(\.rawValue).joined(separator: ", "))."
            )
        }
        let error = call.failure(named: failure)
        guard failure.isEmpty || error != nil else {
            throw JSONBody.invalid(
                "The field /storeKitErrors/\(name) has to be empty or one of "
                    + call.failures.map(\.rawValue).joined(separator: ", ") + ".")
        }
        return { $0.simulatedErrors[call] = error }
    }

    func apply(_ settings: inout StoreSettings) {
        for change in changes { change(&settings) }
    }
}

extension Schema {
    static let settings = object("The settings of the store.", named: "Settings")
        .fields(StoreSetting.all.map { ($0.name, $0.schema(ofChange: false)) })
}

extension StoreSetting {
    /// - Parameter ofChange: True for a request, in which each field is optional and some values remove the setting.
    fileprivate func schema(ofChange: Bool) -> Schema {
        var sentences = [title]
        var removal: String?
        let schema: Schema
        switch kind {
        case .flag: schema = .flag()
        case .number:
            schema = Schema.integer().optional
            removal = "Zero removes it"
        case .simulatedErrors:
            schema = .map(of: .text())
            sentences = ["The error of each call that is made to fail"]
            removal = "An empty text removes it"
        case .text(let text):
            let isRemovable = !text.isRequired && text.change("") != nil
            let isEnumeration = !text.choices.isEmpty && !text.expected.isEmpty
            if !text.expected.isEmpty { sentences.append("It is " + text.expected) }
            if isRemovable { removal = "An empty text removes it" }
            let values = text.choices.map(\.value) + (isRemovable && ofChange ? [""] : [])
            let value = isEnumeration ? Schema.one(of: values) : .text()
            schema = isRemovable ? value.optional : value
        }
        if ofChange, let removal { sentences.append(removal) }
        let described = schema.described(sentences.joined(separator: ". ") + ".")
        return ofChange ? described.optional : described
    }
}
