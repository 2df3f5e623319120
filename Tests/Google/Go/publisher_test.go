// Google's own client for Go, unmodified, against a running `till play`. Run it with ../with_play.py.
package publisher

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	androidpublisher "google.golang.org/api/androidpublisher/v3"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/option"
)

const garden = "com.example.garden"

var (
	play    = connect()
	unknown = strings.Repeat("a", 24) + ".AO-J1OAAAA"
)

// These resources have nothing to do with purchases, and the Play serves none of them.
var publishing = []string{
	"Applications", "Edits", "Grants", "Internalappsharingartifacts", "Reviews", "Systemapks", "Users", "Generatedapks",
}

func connect() *androidpublisher.Service {
	service, err := androidpublisher.NewService(
		context.Background(), option.WithEndpoint(os.Getenv("PLAY_URL")+"/"),
		option.WithCredentialsFile(os.Getenv("PLAY_SERVICE_ACCOUNT")))
	if err != nil {
		panic(err)
	}
	return service
}

// A purchase as the Play gives it to an app.
type purchase struct {
	Number        int64
	ProductID     string `json:"productId"`
	PurchaseToken string
	OrderID       string `json:"orderId"`
}

// sandbox plays a customer.
func sandbox(t *testing.T, path string, body any) (bought purchase) {
	t.Helper()
	var content []byte
	if body != nil {
		var err error
		content, err = json.Marshal(body)
		ok(t, err)
	}
	request, err := http.NewRequest("POST", os.Getenv("PLAY_URL")+"/sandbox/v1/"+path, bytes.NewReader(content))
	ok(t, err)
	request.Header.Set("Authorization", "Bearer "+os.Getenv("PLAY_SANDBOX_KEY"))
	response, err := http.DefaultClient.Do(request)
	ok(t, err)
	defer response.Body.Close()
	if response.StatusCode/100 != 2 {
		t.Fatal(response.Status)
	}
	if path != "time/advance" {
		ok(t, json.NewDecoder(response.Body).Decode(&bought))
	}
	return bought
}

func buy(t *testing.T) purchase {
	t.Helper()
	return sandbox(t, "purchases", map[string]any{"packageName": garden, "productId": "spade", "account": t.Name()})
}

func subscribe(t *testing.T, offer string) purchase {
	t.Helper()
	order := map[string]any{"packageName": garden, "productId": "premium", "account": t.Name(), "obfuscatedAccountId": "a1"}
	if offer != "" {
		order["purchaseOptionId"], order["offerId"] = "monthly", offer
	}
	return sandbox(t, "subscriptions", order)
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal[Value comparable](t *testing.T, value, expected Value) {
	t.Helper()
	if value != expected {
		t.Fatalf("%v is not %v", value, expected)
	}
}

// refused holds an error against Google's status and reason.
func refused(t *testing.T, err error, status int, reason string) {
	t.Helper()
	var failure *googleapi.Error
	if !errors.As(err, &failure) || len(failure.Errors) != 1 {
		t.Fatalf("%v is no error of Google's", err)
	}
	equal(t, failure.Code, status)
	equal(t, failure.Errors[0].Reason, reason)
}

// read returns the state of a subscription in the first version of the API.
func read(t *testing.T, bought purchase) *androidpublisher.SubscriptionPurchase {
	t.Helper()
	state, err := play.Purchases.Subscriptions.Get(garden, bought.ProductID, bought.PurchaseToken).Do()
	ok(t, err)
	equal(t, state.Kind, "androidpublisher#subscriptionPurchase")
	return state
}

func product(sku string) *androidpublisher.InAppProduct {
	return &androidpublisher.InAppProduct{
		PackageName: garden, Sku: sku, PurchaseType: "managedUser", Status: "active", DefaultLanguage: "en-US",
		DefaultPrice: &androidpublisher.Price{Currency: "USD", PriceMicros: "2990000"},
		Prices:       map[string]androidpublisher.Price{"US": {Currency: "USD", PriceMicros: "2990000"}},
		Listings:     map[string]androidpublisher.InAppProductListing{"en-US": {Title: "A rake", Description: "For leaves."}},
	}
}

// inserted returns the name of a new product of the older catalog.
func inserted(t *testing.T) string {
	t.Helper()
	sku := strings.ToLower(strings.NewReplacer("/", ".", "TestEachMethod", "go").Replace(t.Name()))
	answer, err := play.Inappproducts.Insert(garden, product(sku)).Do()
	ok(t, err)
	equal(t, answer.DefaultPrice.PriceMicros, "2990000")
	return sku
}

// The methods of the client, each with a test that has an answer and an error.
var calls = map[string]func(*testing.T){
	"Purchases.Products.Get": func(t *testing.T) {
		bought := buy(t)
		answer, err := play.Purchases.Products.Get(garden, "spade", bought.PurchaseToken).Do()
		ok(t, err)
		equal(t, answer.OrderId, bought.OrderID)
		equal(t, answer.Kind, "androidpublisher#productPurchase")
		equal(t, answer.PurchaseState, 0)
		equal(t, answer.PurchaseTimeMillis > 0, true)
		_, err = play.Purchases.Products.Get(garden, "seeds", bought.PurchaseToken).Do()
		refused(t, err, 400, "purchaseTokenDoesNotMatchProductId")
		_, err = play.Purchases.Products.Get(garden, "spade", unknown).Do()
		refused(t, err, 404, "purchaseTokenNotFound")
	},
	"Purchases.Products.Acknowledge": func(t *testing.T) {
		bought := buy(t)
		request := &androidpublisher.ProductPurchasesAcknowledgeRequest{DeveloperPayload: "7"}
		ok(t, play.Purchases.Products.Acknowledge(garden, "spade", bought.PurchaseToken, request).Do())
		answer, err := play.Purchases.Products.Get(garden, "spade", bought.PurchaseToken).Do()
		ok(t, err)
		equal(t, answer.AcknowledgementState, 1)
		equal(t, answer.DeveloperPayload, "7")
		refused(
			t, play.Purchases.Products.Acknowledge(garden, "spade", bought.PurchaseToken, request).Do(), 400,
			"invalidPurchaseState")
	},
	"Purchases.Subscriptions.Get": func(t *testing.T) {
		bought := subscribe(t, "trial")
		state := read(t, bought)
		equal(t, state.OrderId, bought.OrderID)
		equal(t, state.AutoRenewing, true)
		equal(t, state.PaymentState, 2)
		equal(t, state.AcknowledgementState, 0)
		equal(t, state.CountryCode, "US")
		equal(t, state.PriceCurrencyCode, "USD")
		equal(t, state.PriceAmountMicros, 10_000_000)
		equal(t, state.ObfuscatedExternalAccountId, "a1")
		equal(t, state.ExpiryTimeMillis-state.StartTimeMillis, 7*86_400_000)
		equal(t, state.IntroductoryPriceInfo.IntroductoryPriceAmountMicros, 5_000_000)
		equal(t, state.IntroductoryPriceInfo.IntroductoryPricePeriod, "P1M")
		equal(t, state.IntroductoryPriceInfo.IntroductoryPriceCycles, 2)
		_, err := play.Purchases.Subscriptions.Get(garden, "vip", bought.PurchaseToken).Do()
		refused(t, err, 400, "purchaseTokenDoesNotMatchProductId")
	},
	"Purchases.Subscriptions.Acknowledge": func(t *testing.T) {
		bought := subscribe(t, "")
		request := &androidpublisher.SubscriptionPurchasesAcknowledgeRequest{}
		ok(t, play.Purchases.Subscriptions.Acknowledge(garden, "premium", bought.PurchaseToken, request).Do())
		state := read(t, bought)
		equal(t, state.AcknowledgementState, 1)
		equal(t, state.PaymentState, 1)
		refused(
			t, play.Purchases.Subscriptions.Acknowledge(garden, "premium", bought.PurchaseToken, request).Do(), 400,
			"invalidPurchaseState")
	},
	"Purchases.Subscriptions.Cancel": func(t *testing.T) {
		bought := subscribe(t, "")
		ok(t, play.Purchases.Subscriptions.Cancel(garden, "premium", bought.PurchaseToken).Do())
		state := read(t, bought)
		equal(t, state.AutoRenewing, false)
		equal(t, state.CancelReason, 0)
		equal(t, state.UserCancellationTimeMillis > 0, true)
		equal(t, state.PaymentState, 0)
		refused(
			t, play.Purchases.Subscriptions.Cancel(garden, "premium", unknown).Do(), 404, "purchaseTokenNotFound")
	},
	"Purchases.Subscriptions.Defer": func(t *testing.T) {
		bought := subscribe(t, "")
		present := read(t, bought).ExpiryTimeMillis
		request := func(days int64) (*androidpublisher.SubscriptionPurchasesDeferResponse, error) {
			return play.Purchases.Subscriptions.Defer(
				garden, "premium", bought.PurchaseToken, &androidpublisher.SubscriptionPurchasesDeferRequest{
					DeferralInfo: &androidpublisher.SubscriptionDeferralInfo{
						ExpectedExpiryTimeMillis: present, DesiredExpiryTimeMillis: present + days*86_400_000}}).Do()
		}
		_, err := request(-1)
		refused(t, err, 400, "subscriptionDeferInvalidTime")
		answer, err := request(3)
		ok(t, err)
		equal(t, answer.NewExpiryTimeMillis, present+3*86_400_000)
		equal(t, read(t, bought).ExpiryTimeMillis, answer.NewExpiryTimeMillis)
		_, err = request(3)
		refused(t, err, 409, "concurrentUpdate")
	},
	"Purchases.Subscriptions.Refund": func(t *testing.T) {
		bought := subscribe(t, "")
		ok(t, play.Purchases.Subscriptions.Refund(garden, "premium", bought.PurchaseToken).Do())
		equal(t, read(t, bought).AutoRenewing, true)
		refused(
			t, play.Purchases.Subscriptions.Refund(garden, "premium", bought.PurchaseToken).Do(), 400,
			"invalidPurchaseState")
	},
	"Purchases.Subscriptions.Revoke": func(t *testing.T) {
		bought := subscribe(t, "")
		ok(t, play.Purchases.Subscriptions.Revoke(garden, "premium", bought.PurchaseToken).Do())
		state := read(t, bought)
		equal(t, state.CancelReason, 3)
		equal(t, state.AutoRenewing, false)
		refused(
			t, play.Purchases.Subscriptions.Revoke(garden, "premium", bought.PurchaseToken).Do(), 400,
			"invalidPurchaseState")
	},
	"Purchases.Voidedpurchases.List": func(t *testing.T) {
		bought := buy(t)
		ok(t, play.Orders.Refund(garden, bought.OrderID).Revoke(true).Do())
		var tokens []string
		page := ""
		for {
			call := play.Purchases.Voidedpurchases.List(garden).MaxResults(1)
			if page != "" {
				call = call.Token(page)
			}
			answer, err := call.Do()
			ok(t, err)
			for _, record := range answer.VoidedPurchases {
				tokens = append(tokens, record.PurchaseToken)
			}
			if answer.TokenPagination == nil || answer.TokenPagination.NextPageToken == "" {
				break
			}
			page = answer.TokenPagination.NextPageToken
		}
		equal(t, slices.Contains(tokens, bought.PurchaseToken), true)
		_, err := play.Purchases.Voidedpurchases.List(garden).Type(7).Do()
		refused(t, err, 400, "invalidValue")
	},
	"Orders.Refund": func(t *testing.T) {
		bought := buy(t)
		ok(t, play.Orders.Refund(garden, bought.OrderID).Do())
		refused(t, play.Orders.Refund(garden, bought.OrderID).Do(), 400, "invalidValue")
		refused(t, play.Orders.Refund(garden, "GPA.0000-0000-0000-00000").Do(), 404, "notFound")
	},
	"Monetization.ConvertRegionPrices": func(t *testing.T) {
		request := &androidpublisher.ConvertRegionPricesRequest{Price: &androidpublisher.Money{CurrencyCode: "USD", Units: 10}}
		answer, err := play.Monetization.ConvertRegionPrices(garden, request).Do()
		ok(t, err)
		equal(t, answer.ConvertedRegionPrices["KR"].Price.CurrencyCode, "KRW")
		equal(t, answer.ConvertedRegionPrices["KR"].Price.Units > 0, true)
		_, err = play.Monetization.ConvertRegionPrices(garden, &androidpublisher.ConvertRegionPricesRequest{}).Do()
		refused(t, err, 400, "required")
	},
	"Inappproducts.Insert": func(t *testing.T) {
		_, err := play.Inappproducts.Insert(garden, product(inserted(t))).Do()
		refused(t, err, 409, "alreadyExists")
	},
	"Inappproducts.Get": func(t *testing.T) {
		answer, err := play.Inappproducts.Get(garden, inserted(t)).Do()
		ok(t, err)
		equal(t, answer.Listings["en-US"].Title, "A rake")
		_, err = play.Inappproducts.Get(garden, "none").Do()
		refused(t, err, 404, "notFound")
	},
	"Inappproducts.List": func(t *testing.T) {
		sku := inserted(t)
		answer, err := play.Inappproducts.List(garden).Do()
		ok(t, err)
		equal(t, slices.ContainsFunc(answer.Inappproduct, func(found *androidpublisher.InAppProduct) bool {
			return found.Sku == sku
		}), true)
	},
	"Inappproducts.Patch": func(t *testing.T) {
		sku := inserted(t)
		change := product(sku)
		change.Prices["US"] = androidpublisher.Price{Currency: "USD", PriceMicros: "3990000"}
		answer, err := play.Inappproducts.Patch(garden, sku, change).Do()
		ok(t, err)
		equal(t, answer.Prices["US"].PriceMicros, "3990000")
	},
	"Inappproducts.Update": func(t *testing.T) {
		sku := inserted(t)
		change := product(sku)
		change.Listings["en-US"] = androidpublisher.InAppProductListing{Title: "A broom", Description: "For paths."}
		answer, err := play.Inappproducts.Update(garden, sku, change).Do()
		ok(t, err)
		equal(t, answer.Listings["en-US"].Title, "A broom")
	},
	"Inappproducts.Delete": func(t *testing.T) {
		sku := inserted(t)
		ok(t, play.Inappproducts.Delete(garden, sku).Do())
		_, err := play.Inappproducts.Get(garden, sku).Do()
		refused(t, err, 404, "notFound")
	},
}

// methods returns the names of a service's methods, which return a call each, and of the services in it.
func methods(service reflect.Type, prefix string) (found []string) {
	for index := range service.NumMethod() {
		if method := service.Method(index); method.Type.NumOut() == 1 && method.Type.Out(0).Kind() == reflect.Pointer {
			found = append(found, prefix+method.Name)
		}
	}
	for index := range service.Elem().NumField() {
		field := service.Elem().Field(index)
		// A service knows the whole client, too, in a field that is not exported.
		if field.IsExported() && field.Type.Kind() == reflect.Pointer && !(prefix == "" && slices.Contains(publishing, field.Name)) {
			found = append(found, methods(field.Type, prefix+field.Name+".")...)
		}
	}
	slices.Sort(found)
	return found
}

func TestEachMethod(t *testing.T) {
	for name, test := range calls {
		t.Run(name, test)
	}
}

func TestEachMethodOfTheClientHasATest(t *testing.T) {
	if found := methods(reflect.TypeOf(play), ""); !slices.Equal(found, slices.Sorted(maps.Keys(calls))) {
		t.Fatalf("the client has %v", found)
	}
}

func TestTheFirstVersionTellsHowASubscriptionEnds(t *testing.T) {
	bought := subscribe(t, "")
	request := &androidpublisher.SubscriptionPurchasesAcknowledgeRequest{}
	ok(t, play.Purchases.Subscriptions.Acknowledge(garden, "premium", bought.PurchaseToken, request).Do())
	sandbox(t, fmt.Sprintf("subscriptions/%d/declinePayments", bought.Number), nil)
	sandbox(t, "time/advance", map[string]any{"by": "1mo"})
	state := read(t, bought)
	equal(t, state.PaymentState, 0)
	equal(t, state.AutoRenewing, true)
	for range 2 {
		sandbox(t, "time/advance", map[string]any{"by": "30d"})
	}
	state = read(t, bought)
	equal(t, state.CancelReason, 1)
	equal(t, state.OrderId, bought.OrderID+"..0")
}
