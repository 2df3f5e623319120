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
    /// The key of all apps without their own; nil if each app has its own.
    let key: AppStoreKeySettings?
    /// nil for Apple's own.
    let url: URL?
    /// nil for never.
    let notificationSeconds: Int64?
    /// nil for never.
    let historySeconds: Int64?
    /// nil where questions are left unanswered.
    let consumption: ConsumptionAnswer?

    /// - Parameter apps: The apps of the service; empty if it has one that is configured by itself.
    /// - Returns: nil where no key is set.
    /// - Throws: `ConfigurationError`.
    init?(_ settings: ServeSettings, origins: Set<Origin>, apps: [AppSettings]) async throws {
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
        if values.isEmpty, apps.allSatisfy({ $0.appStoreKey == nil }) {
            guard let name = others.filter(\.value).keys.sorted().first else { return nil }
            throw ConfigurationError(setting: name, expected: "set together with app-store-key")
        }
        guard values.isEmpty || values.count == names.count else {
            throw ConfigurationError(
                setting: "app-store-key",
                expected: "there together with app-store-key-id and app-store-issuer-id, or none of the three")
        }
        key =
            values.isEmpty
            ? nil : AppStoreKeySettings(file: values[0], keyIdentifier: values[1], issuerIdentifier: values[2])
        url = try await Self.url(settings)
        guard
            url != nil || origins.contains(where: { $0.appStoreServerURL != nil })
                || !apps.isEmpty && apps.allSatisfy({ $0.appStoreURL != nil })
        else {
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

    /// The addresses that are asked about an app, each with the origins of its purchases.
    ///
    /// - Parameter own: The address for the app alone; nil for that of the service.
    func sources(_ own: URL?, _ origins: Set<Origin>) -> [(url: URL, origins: Set<Origin>)] {
        if let url = own ?? url { return [(url, origins)] }
        return origins.sorted { $0.rawValue < $1.rawValue }.compactMap { origin in
            origin.appStoreServerURL.map { ($0, [origin]) }
        }
    }
}

extension AppStoreServerKey {
    init(_ settings: AppStoreKeySettings, bundleIdentifier: String) throws(ReconciliationError) {
        guard let privateKey = try? String(contentsOf: URL(filePath: settings.file), encoding: .utf8) else {
            throw .keyInvalid
        }
        try self.init(
            privateKey: privateKey, keyIdentifier: settings.keyIdentifier,
            issuerIdentifier: settings.issuerIdentifier, bundleIdentifier: bundleIdentifier)
    }
}
