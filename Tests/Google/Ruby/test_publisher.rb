# Google's own client for Ruby, unmodified, against a running `till play`. Run it with ../with_play.py.

require "json"
require "minitest/autorun"
require "net/http"

require "google/apis/androidpublisher_v3"
require "googleauth"

Publisher = Google::Apis::AndroidpublisherV3

# A test of a method of the client has its name.
class PublisherTest < Minitest::Test
  GARDEN = "com.example.garden".freeze
  UNKNOWN = "#{'a' * 24}.AO-J1OAAAA".freeze
  DAY = 86_400_000
  # These methods have nothing to do with purchases, and the Play serves none of them.
  PUBLISHING = /edit|apk|bundle|review|variant|apply_command_defaults/

  def self.play
    @play ||= Publisher::AndroidPublisherService.new.tap do |play|
      play.root_url = "#{ENV.fetch('PLAY_URL')}/"
      # The client reads no token address from the file.
      play.authorization = Google::Auth::ServiceAccountCredentials.make_creds(
        json_key_io: File.open(ENV.fetch("PLAY_SERVICE_ACCOUNT")), scope: Publisher::AUTH_ANDROIDPUBLISHER
      )
      token_address = "#{ENV.fetch('PLAY_URL')}/oauth2/v4/token"
      play.authorization.update!(token_credential_uri: token_address, audience: token_address)
    end
  end

  def play = self.class.play

  # Plays a customer.
  def sandbox(path, body = {})
    answer = Net::HTTP.post(
      URI("#{ENV.fetch('PLAY_URL')}/sandbox/v1/#{path}"), JSON.generate(body),
      "Authorization" => "Bearer #{ENV.fetch('PLAY_SANDBOX_KEY')}", "Content-Type" => "application/json"
    )
    assert_kind_of Net::HTTPSuccess, answer, answer.body
    JSON.parse(answer.body, symbolize_names: true)
  end

  def buy
    bought = sandbox("purchases", { packageName: GARDEN, productId: "spade", account: "ruby_#{name}" })
    bought.values_at(:purchaseToken, :orderId)
  end

  def subscribe(**more)
    order = { packageName: GARDEN, productId: "premium", account: "ruby_#{name}", **more }
    sandbox("subscriptions", order).values_at(:purchaseToken, :orderId)
  end

  def refused(status, reason, &call)
    error = assert_raises(Google::Apis::ClientError, &call)
    assert_equal status, error.status_code
    assert_equal reason, JSON.parse(error.body).dig("error", "errors", 0, "reason")
  end

  def read(token) = play.get_purchase_subscription(GARDEN, "premium", token)

  def product(sku, title = "A rake")
    Publisher::InAppProduct.new(
      package_name: GARDEN, sku: sku, purchase_type: "managedUser", status: "active", default_language: "en-US",
      default_price: Publisher::Price.new(currency: "USD", price_micros: "2990000"),
      prices: { "US" => Publisher::Price.new(currency: "USD", price_micros: "2990000") },
      listings: { "en-US" => Publisher::InAppProductListing.new(title: title, description: "For leaves.") }
    )
  end

  # The name of a new product of the older catalog.
  def inserted
    sku = "ruby.#{name.delete_prefix('test_')}"
    assert_equal "2990000", play.insert_inappproduct(GARDEN, product(sku)).default_price.price_micros
    sku
  end

  def test_each_method_of_the_client_has_a_test
    methods = Publisher::AndroidPublisherService.public_instance_methods(false)
    methods.reject! { |method| method.end_with?("=") || Publisher::AndroidPublisherService.method_defined?("#{method}=") }
    methods.reject! { |method| method.match?(PUBLISHING) }
    refute_empty methods
    assert_empty methods.reject { |method| respond_to?("test_#{method}") }
  end

  def test_get_purchase_product
    token, order = buy
    purchase = play.get_purchase_product(GARDEN, "spade", token)
    assert_equal ["androidpublisher#productPurchase", order, 0], [purchase.kind, purchase.order_id, purchase.purchase_state]
    assert_operator purchase.purchase_time_millis, :>, 0
    refused(400, "purchaseTokenDoesNotMatchProductId") { play.get_purchase_product(GARDEN, "seeds", token) }
    refused(404, "purchaseTokenNotFound") { play.get_purchase_product(GARDEN, "spade", UNKNOWN) }
  end

  def test_acknowledge_purchase_product
    token, = buy
    request = Publisher::ProductPurchasesAcknowledgeRequest.new(developer_payload: "7")
    play.acknowledge_purchase_product(GARDEN, "spade", token, request)
    purchase = play.get_purchase_product(GARDEN, "spade", token)
    assert_equal [1, "7"], [purchase.acknowledgement_state, purchase.developer_payload]
    refused(400, "invalidPurchaseState") { play.acknowledge_purchase_product(GARDEN, "spade", token, request) }
  end

  def test_get_purchase_subscription
    token, order = subscribe(purchaseOptionId: "monthly", offerId: "trial", obfuscatedAccountId: "a1")
    purchase = read(token)
    assert_equal ["androidpublisher#subscriptionPurchase", order, 2], [purchase.kind, purchase.order_id, purchase.payment_state]
    assert_equal true, purchase.auto_renewing
    assert_equal ["USD", 10_000_000], [purchase.price_currency_code, purchase.price_amount_micros]
    assert_equal 7 * DAY, purchase.expiry_time_millis - purchase.start_time_millis
    assert_equal ["a1", "US"], [purchase.obfuscated_external_account_id, purchase.country_code]
    introductory = purchase.introductory_price_info
    assert_equal [5_000_000, "P1M", 2], [
      introductory.introductory_price_amount_micros, introductory.introductory_price_period,
      introductory.introductory_price_cycles
    ]
    assert_nil purchase.cancel_reason
    refused(400, "purchaseTokenDoesNotMatchProductId") { play.get_purchase_subscription(GARDEN, "vip", token) }
  end

  def test_acknowledge_purchase_subscription
    token, = subscribe
    request = Publisher::SubscriptionPurchasesAcknowledgeRequest.new
    play.acknowledge_purchase_subscription(GARDEN, "premium", token, request)
    assert_equal [1, 1], [read(token).acknowledgement_state, read(token).payment_state]
    refused(400, "invalidPurchaseState") { play.acknowledge_purchase_subscription(GARDEN, "premium", token, request) }
  end

  def test_cancel_purchase_subscription
    token, = subscribe
    play.cancel_purchase_subscription(GARDEN, "premium", token)
    purchase = read(token)
    assert_equal [0, false, nil], [purchase.cancel_reason, purchase.auto_renewing, purchase.payment_state]
    assert_operator purchase.user_cancellation_time_millis, :>, 0
    refused(404, "purchaseTokenNotFound") { play.cancel_purchase_subscription(GARDEN, "premium", UNKNOWN) }
  end

  def test_defer_purchase_subscription
    token, = subscribe
    present = read(token).expiry_time_millis
    moved = lambda do |days|
      info = Publisher::SubscriptionDeferralInfo.new(
        expected_expiry_time_millis: present, desired_expiry_time_millis: present + days * DAY
      )
      request = Publisher::SubscriptionPurchasesDeferRequest.new(deferral_info: info)
      play.defer_purchase_subscription(GARDEN, "premium", token, request).new_expiry_time_millis
    end
    refused(400, "subscriptionDeferInvalidTime") { moved.call(366) }
    assert_equal present + 3 * DAY, moved.call(3)
    assert_equal present + 3 * DAY, read(token).expiry_time_millis
    refused(409, "concurrentUpdate") { moved.call(3) }
  end

  def test_refund_purchase_subscription
    token, = subscribe
    play.refund_purchase_subscription(GARDEN, "premium", token)
    assert_equal true, read(token).auto_renewing
    refused(400, "invalidPurchaseState") { play.refund_purchase_subscription(GARDEN, "premium", token) }
  end

  def test_revoke_purchase_subscription
    token, = subscribe
    play.revoke_purchase_subscription(GARDEN, "premium", token)
    assert_equal [3, false], [read(token).cancel_reason, read(token).auto_renewing]
    refused(400, "invalidPurchaseState") { play.revoke_purchase_subscription(GARDEN, "premium", token) }
  end

  def test_list_purchase_voidedpurchases
    token, order = buy
    play.refund_order(GARDEN, order, revoke: true)
    tokens = []
    page = nil
    loop do
      answer = play.list_purchase_voidedpurchases(GARDEN, max_results: 1, token: page)
      tokens += answer.voided_purchases.map(&:purchase_token)
      page = answer.token_pagination&.next_page_token
      break unless page
    end
    assert_includes tokens, token
    refused(400, "invalidValue") { play.list_purchase_voidedpurchases(GARDEN, type: 7) }
  end

  def test_refund_order
    _, order = buy
    play.refund_order(GARDEN, order)
    refused(400, "invalidValue") { play.refund_order(GARDEN, order) }
    refused(404, "notFound") { play.refund_order(GARDEN, "GPA.0000-0000-0000-00000") }
  end

  def test_insert_inappproduct
    sku = inserted
    refused(409, "alreadyExists") { play.insert_inappproduct(GARDEN, product(sku)) }
  end

  def test_get_inappproduct
    assert_equal "A rake", play.get_inappproduct(GARDEN, inserted).listings["en-US"].title
    refused(404, "notFound") { play.get_inappproduct(GARDEN, "none") }
  end

  def test_list_inappproducts
    sku = inserted
    assert_includes play.list_inappproducts(GARDEN).inappproduct.map(&:sku), sku
  end

  def test_patch_inappproduct
    sku = inserted
    assert_equal "A broom", play.patch_inappproduct(GARDEN, sku, product(sku, "A broom")).listings["en-US"].title
  end

  def test_update_inappproduct
    sku = inserted
    assert_equal "A broom", play.update_inappproduct(GARDEN, sku, product(sku, "A broom")).listings["en-US"].title
  end

  def test_delete_inappproduct
    sku = inserted
    play.delete_inappproduct(GARDEN, sku)
    refused(404, "notFound") { play.get_inappproduct(GARDEN, sku) }
  end
end
