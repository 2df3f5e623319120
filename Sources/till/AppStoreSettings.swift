import AppStoreClient
import Commerce
import Foundation
import HTTPSupport
import Receipts
import Service
import StoreHTTP
import Wire

/// How `till serve` asks the App Store what was missed, and answers what it asks.
struct AppStoreSettings {
    /// Of the `.p8` file.
    let key: String
    let keyIdentifier: String
    let issuerIdentifier: String
    /// nil for Apple's own.
    let url: URL?
    /// nil for never.
    let notificationSeconds: Int64?
    /// nil for never.
    let historySeconds: Int64?
    /// nil where questions are left unanswered.
    let consumption: ConsumptionAnswer?

    /// - Returns: nil where no key is set.
    /// - Throws: `ConfigurationError`.
    init?(_ settings: ServeSettings, origins: Set<Origin>) async throws {
        let names = ["app-store-key", "app-store-key-id", "app-store-issuer-id"]
        var values: [String] = []
        for name in names {
            if let value = try await settings.text(name) { values.append(value) }
        }
        let others = [
            "app-store-url": try await settings.text("app-store-url") != nil,
            "reconcile-seconds": try await settings.number("reconcile-seconds", in: 0...86_400) != nil,
            "reconcile-customers-seconds":
                try await settings.number("reconcile-customers-seconds", in: 0...(30 * 86_400)) != nil,
            "refund-preference": try await settings.text("refund-preference") != nil,
            "sample-content-provided": try await settings.flag("sample-content-provided") != nil,
        ]
        if values.isEmpty {
            guard let name = others.filter(\.value).keys.sorted().first else { return nil }
            throw ConfigurationError(setting: name, expected: "set together with app-store-key")
        }
        guard values.count == names.count else {
            throw ConfigurationError(
                setting: "app-store-key",
                expected: "there together with app-store-key-id and app-store-issuer-id, or none of the three")
        }
        (key, keyIdentifier, issuerIdentifier) = (values[0], values[1], values[2])
        url = try await Self.url(settings)
        guard url != nil || origins.contains(where: { $0.appStoreServerURL != nil }) else {
            throw ConfigurationError(
                setting: "app-store-url", expected: "there: Apple answers for apple/Production and apple/Sandbox alone")
        }
        notificationSeconds = Self.interval(try await settings.number("reconcile-seconds", in: 0...86_400) ?? 3600)
        historySeconds = Self.interval(
            try await settings.number("reconcile-customers-seconds", in: 0...(30 * 86_400)) ?? 86_400)
        consumption = try await Self.consumption(settings)
    }

    private static func url(_ settings: ServeSettings) async throws -> URL? {
        guard let text = try await settings.text("app-store-url") else { return nil }
        guard let address = ServerAddress(argument: text), address.isConfidential else {
            throw ConfigurationError(
                setting: "app-store-url", expected: "an https address without a path; http is for this machine's own")
        }
        return address.url
    }

    private static func interval(_ seconds: Int) -> Int64? {
        seconds == 0 ? nil : Int64(seconds)
    }

    private static func consumption(_ settings: ServeSettings) async throws -> ConsumptionAnswer? {
        let isSample = try await settings.flag("sample-content-provided")
        guard let text = try await settings.text("refund-preference") else {
            guard isSample == nil else {
                throw ConfigurationError(
                    setting: "sample-content-provided", expected: "set together with refund-preference")
            }
            return nil
        }
        let preference = RefundPreference(rawValue: text)
        guard preference != nil || text == "NONE" else {
            throw ConfigurationError(
                setting: "refund-preference",
                expected: "one of \(RefundPreference.allCases.map(\.rawValue).joined(separator: ", ")), NONE")
        }
        return ConsumptionAnswer(refundPreference: preference, sampleContentProvided: isSample ?? false)
    }

    /// Where the App Store is asked, and of which origins' purchases.
    func sources(_ origins: Set<Origin>) -> [(url: URL, origins: Set<Origin>)] {
        if let url { return [(url, origins)] }
        return origins.sorted { $0.rawValue < $1.rawValue }.compactMap { origin in
            origin.appStoreServerURL.map { ($0, [origin]) }
        }
    }
}

extension AppStoreServerKey {
    /// - Parameter file: The `.p8` file, from App Store Connect or `till store keys`.
    init(
        file: String,
        keyIdentifier: String,
        issuerIdentifier: String,
        bundleIdentifier: String
    ) throws(ReconciliationError) {
        guard let privateKey = try? String(contentsOf: URL(filePath: file), encoding: .utf8) else { throw .keyInvalid }
        try self.init(
            privateKey: privateKey, keyIdentifier: keyIdentifier, issuerIdentifier: issuerIdentifier,
            bundleIdentifier: bundleIdentifier)
    }
}
