import AppStore
import Console
import Entitlements
import Features
import Foundation
import HTTPSupport
import PlayStore
import Proofs
import Service
import Vocabulary

/// The running service, as the console shows it.
struct ServiceSystem: ConsoleServices {
    let till: Till
    let configuration: ServeConfiguration
    let team: TeamService
    let door: RedemptionDoor
    let keys: APIKeys
    let store: Store?
    let play: GooglePlay?
    let metrics: ServiceMetrics
    let health: any HealthSource
    let appStores: AppStoreServices
    let googlePlay: GooglePlayApps
    let duties: StoreDuties

    var orders: (@Sendable (String) async throws -> [(transaction: String, original: String)])? {
        guard !appStores.orderClients.isEmpty else { return nil }
        return { [entitlements = till.entitlements, clients = appStores.orderClients] in
            try await entitlements.transactions(ofOrder: $0, asking: clients)
        }
    }

    var voidedPurchases: @Sendable () async throws -> [VoidedPurchases] {
        { [apps = googlePlay] in
            var lists: [VoidedPurchases] = []
            for app in apps {
                let last = try await app.reconciler.lastVoidedPurchases()
                lists.append(VoidedPurchases(package: app.client.packageName, last: last))
            }
            return lists
        }
    }

    var testWebhook: (@Sendable (WebhookEndpoint) async throws -> WebhookDelivery.Outcome)? {
        guard let webhooks = till.webhooks else { return nil }
        return { try await webhooks.sendTest(to: $0) }
    }

    var answersConsumptionRequests: Bool { configuration.appStore?.consumption != nil }

    var reconciliations: [any ConsoleReconciliation] { appStores.reconciliations }

    func export(_ user: User) async throws -> [UInt8]? {
        try await till.entitlements.export(of: user, at: till.clock.now(), namingKeys: true)
    }
}

/// The state of the installation and of the running service.
struct ServiceHealth: HealthSource {
    let configuration: ServeConfiguration
    let common: CommonOptions
    let service: RunningService
    let startNotes: [String]

    func checks() async -> [HealthCheck] {
        await Examination(configuration, common: common, service: service).findings()
    }

    func certificates() async -> [HealthCertificate] {
        let examination = Examination(configuration, common: common, service: service)
        return (try? await BlockingWork.run { examination.certificates }) ?? []
    }

    var ledgerPlace: String { configuration.ledgerPlace.description }

    var settings: [(name: String, value: String, source: String?)] { configuration.rows }

    var versions: [(name: String, version: String)] {
        [
            ("Till", TillCommand.version), ("Swift", "\(_SwiftStdlibVersion.current)"),
            ("OpenSSL", OpenSSLLibrary.version),
        ]
    }
}
