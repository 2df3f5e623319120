import Foundation
import Proofs
import Synchronization

/// Creates distinct signed transactions for a service to redeem, with their root certificate.
///
/// Usage: `TransactionMint COUNT FOLDER`. It writes `root.cer` and `transactions`, one per line.
@main
struct TransactionMint {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let count = Int(arguments[1]) else {
            print("Usage: TransactionMint COUNT FOLDER")
            exit(64)
        }
        let folder = URL(filePath: arguments[2], directoryHint: .isDirectory)
        let now = Timestamp(millisecondsSince1970: Int64(Date.now.timeIntervalSince1970 * 1000))
        let day: Int64 = 86_400
        let seconds = now.millisecondsSince1970 / 1000
        let chain = try CertificateChain.make(
            .ellipticCurve, name: "Load", validity: seconds - day...seconds + day,
            randomBytes: Randomness.system.bytes)
        try Data(chain.root.certificate.der).write(to: folder.appending(path: "root.cer"))
        let file = folder.appending(path: "transactions")
        try Data().write(to: file)
        let handle = try FileHandle(forWritingTo: file)
        for first in stride(from: 0, to: count, by: batchSize) {
            try handle.write(contentsOf: try batch(first..<min(first + batchSize, count), at: now, chain: chain))
        }
        try handle.close()
    }

    private static let batchSize = 4000

    /// Returns a batch, created in equal parts on all cores.
    private static func batch(_ numbers: Range<Int>, at now: Timestamp, chain: CertificateChain) throws -> Data {
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let parts = Mutex<[Result<String, any Error>]>([])
        DispatchQueue.concurrentPerform(iterations: cores) { core in
            let part = Result {
                try numbers.filter { $0 % cores == core }
                    .map { try transaction($0, at: now, chain: chain) + "\n" }.joined()
            }
            parts.withLock { $0.append(part) }
        }
        return Data(try parts.withLock { try $0.map { try $0.get() } }.joined().utf8)
    }

    private static func transaction(_ number: Int, at now: Timestamp, chain: CertificateChain) throws -> String {
        let identifier = String(2_000_000_000_000_000 + number)
        let date = JSONValue.integer(now.millisecondsSince1970)
        let payload: JSONObject = [
            "transactionId": .string(identifier), "originalTransactionId": .string(identifier),
            "bundleId": "com.memolease.sesac1", "productId": "com.memolease.sesac1.sprout1", "purchaseDate": date,
            "originalPurchaseDate": date, "quantity": .integer(1), "type": "Non-Consumable",
            "inAppOwnershipType": "PURCHASED", "signedDate": date, "environment": "Sandbox",
            "transactionReason": "PURCHASE", "storefront": "KOR", "storefrontId": "143466",
            "price": .integer(1_200_000), "currency": "KRW", "appTransactionId": "704897469903783919",
        ]
        return try SignedJSON.sign(.object(payload), with: chain.leaf.key, chain: chain.certificates)
    }
}
