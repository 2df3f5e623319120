import Foundation
import TestSupport
import Testing

/// The bugs of Swift 6.3.1 around which some types are built, and the types.
///
/// - The optimizer miscompiles a throwing function that scans an array with an inlined `[UInt8] ==`, returns a value wider than 128
///   bytes and throws at its end: its caller gets an error that nobody has thrown (swiftlang/swift#90477).
/// - The compiler crashes over an async closure that keeps a wide copy while it waits.
///
/// So a wide value sits behind a class, an indirect case or an array of one element. `results of throwing functions are narrow` measures
/// some of them. The types become structs again once the known issue below is none.
@Suite struct CompilerBugTests {
    /// The files in `Sources` with such a type, and its declaration.
    private static let types = [
        "Entitlements/ExternalPurchases/ExternalPurchase.swift": [
            "final class ExternalPurchase", "final class ExternalPurchaseReport",
        ],
        "Entitlements/GooglePlay/ExternalTransactionReport.swift": ["final class ExternalTransactionReport"],
        "Entitlements/GooglePlay/GooglePurchase.swift": ["final class GooglePurchase"],
        "Entitlements/Redemption/RedemptionDoor.swift": ["final class RedemptionRequest", "final class Statement"],
        "Entitlements/Refunds/PendingRefundReview.swift": ["final class PendingRefundReview"],
        "Entitlements/Statements/NotificationRecord.swift": ["indirect enum Subject"],
        "Entitlements/StoreActions/StoreAction.swift": ["final class StoreAction"],
        "Features/Attributes/AttributedHistory.swift": ["final class AttributedHistory"],
        "Features/Till.swift": ["final class Till"],
        "Features/Webhooks/WebhookService.swift": ["final class Answers"],
        "Ledger/Audit/AuditEntry.swift": ["indirect enum Measure"],
        "PlayStore/Play/Notifications.swift": ["final class QueuedNotification"],
        "PlayStore/PlayHTTP/PlaySandboxRequests.swift": [
            "final class PlayPurchaseRequest", "final class CallFaultRequest",
        ],
        "HTTPSupport/LocalStores/PaymentTransaction.swift": ["let purchases: [Purchase]"],
        "Proofs/GooglePlay/GooglePlayNotification.swift": ["final class GooglePlayNotification"],
        "Proofs/GooglePlay/GooglePlayStatement.swift": ["final class GooglePlayStatement"],
        "Proofs/GooglePlay/SignedPurchase.swift": ["final class GooglePlayPurchase"],
        "Proofs/Receipts/VerifiedProof.swift": [
            "indirect enum Content", "var notifiedTransactionProofs: [SignedPart]",
        ],
        "Service/AppStoreClient/RetentionRoutes.swift": ["final class RealtimeResponseBody"],
        "Service/Doors/DoorRoutes.swift": ["final class DoorServices"],
        "Service/GooglePlay/GooglePlayApp.swift": ["final class GooglePlayApp"],
        "Service/Routes/OperationGroup.swift": ["final class ServiceParts"],
        "Service/Webhooks/WebhookRoutes.swift": ["final class Call"],
        "till/Demo/DemoShop.swift": ["final class DemoShop"],
    ]

    /// The words of a comment about one of the bugs.
    private static let marks = ["swiftlang/swift#90477", "he compiler crashes", "Swift 6.3.1", "`CompilerBugTests`"]

    @Test func `the list has each type that is built around a bug of the compiler`() throws {
        var marked: Set<String> = []
        for path in try Project.files("Sources", suffix: ".swift") {
            let text = try Project.text(path)
            if Self.marks.contains(where: text.contains) { marked.insert(String(path.dropFirst("Sources/".count))) }
        }
        #expect(marked == Set(Self.types.keys))
        for (path, declarations) in Self.types {
            let text = try Project.text("Sources/\(path)")
            for declaration in declarations { #expect(text.contains(declaration), "\(path): \(declaration)") }
        }
    }

    #if os(Linux) && arch(x86_64) && compiler(>=6.3) && compiler(<6.4)
        @Test func `the optimizer throws an error that nobody has thrown`() async throws {
            let folder = try TemporaryFolder()
            let (source, program) = (folder.file("Wide.swift"), folder.file("wide"))
            try Data(Self.program.utf8).write(to: source)
            let built = try await ShellCommand.run(["swiftc", "-O", source.path, "-o", program.path])
            try #require(built.status == 0, "\(built.errors)")
            let result = try await ShellCommand.run(["SWIFT_BACKTRACE=enable=no", program.path])
            withKnownIssue("swiftlang/swift#90477") {
                #expect(String(decoding: result.output, as: UTF8.self) == "9\n")
            }
        }
    #endif

    /// A search for an element of 136 bytes, which is there.
    private static let program = """
        struct NotFound: Error { let name: String }
        typealias Eight = (Int, Int, Int, Int, Int, Int, Int, Int)
        struct Wide { var first, second: Eight; var last: Int }
        struct Shelf {
            let items: [Wide]
            let names: [[UInt8]]
            let wanted: [UInt8]
            @inline(never) func find() throws -> Wide {
                for (index, name) in names.enumerated() where name == wanted { return items[index] }
                throw NotFound(name: "none")
            }
        }
        let eight = (1, 2, 3, 4, 5, 6, 7, 8)
        // The optimizer does not know that this is 3.
        let third = UInt8(CommandLine.arguments.count + 2)
        let shelf = Shelf(
            items: [Wide(first: eight, second: eight, last: 9)], names: [[1, 2, 3]], wanted: [1, 2, third])
        do { print(try shelf.find().last) } catch { print(error) }

        """
}
