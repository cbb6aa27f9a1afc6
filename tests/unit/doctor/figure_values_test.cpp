// Figures of training loops as programs print them. Lines are in lower case, as the reader of logs has them.
#include "engine/doctor/log/figure_values.h"

#include "tests/catch.h"

namespace shardlab {
namespace {

TEST_CASE("the loss of a step is read as programs print it") {
  CHECK(loss_in("{'loss': 2.31, 'grad_norm': 1.4, 'epoch': 0.01}") == 2.31);
  CHECK(loss_in(" iteration 100/ 5000 | lm loss: 2.310000e+00 | grad norm: 1.2 |") == 2.31);
  CHECK(loss_in("step: 10  loss:  9.7312  grad_norm:  3.9011  memory: 47.55gib(60.07%)") == 9.7312);
  CHECK(loss_in("epoch 1 train_loss=2.31 lr=1e-5") == 2.31);
  CHECK(loss_in("loss tensor(2.31, device='cuda:0')") == 2.31);
  CHECK(loss_in("{'loss': '1.822e+04', 'grad_norm': '4.431e+05', 'learning_rate': '30'}") == 1.822e4);
}

TEST_CASE("what is no loss of a step is not read as one") {
  CHECK_FALSE(loss_in("{'eval_loss': 2.31, 'eval_runtime': 12.1}"));
  CHECK_FALSE(loss_in("validation loss: 2.31"));
  CHECK_FALSE(loss_in("{'train_runtime': '11.02', 'train_loss': '5.38', 'epoch': '2.5'}"));
  CHECK_FALSE(loss_in("loss scale: 65536.0"));
  CHECK_FALSE(loss_in("'loss_scale_window': 1000"));
  CHECK_FALSE(loss_in("loss 3d convolution"));
  CHECK_FALSE(loss_in("loss:"));
}

TEST_CASE("the norm of gradients is read as programs print it") {
  CHECK(gradient_norm_in("{'loss': 2.31, 'grad_norm': 1.4}") == 1.4);
  CHECK(gradient_norm_in("| grad norm: 1.234 | actual seqlen: 2048 |") == 1.234);
  CHECK(gradient_norm_in("gnorm 0.74, clip 0") == 0.74);
  CHECK_FALSE(gradient_norm_in("max_grad_norm is not given"));
}

double memory_of(std::string_view line) {
  const auto memory = memory_in(line);
  return memory ? memory->value : -1;
}

TEST_CASE("memory in use is read with its unit, or without one") {
  CHECK(memory_of("memory: 47.50gib(60.07%)") == 47.5 * 0x1p30);
  CHECK(memory_of("ma 10.5 gb         max_ma 12.3 gb         ca 13.1 gb") == 10.5 * 0x1p30);
  CHECK(memory_of("epoch: [0] eta: 0:10 loss: 0.69 max mem: 12034") == 12034);
  CHECK(memory_of("memory_allocated=123456") == 123456);
}

TEST_CASE("other memory is not read as memory in use") {
  CHECK(memory_of("torch.outofmemoryerror: cuda out of memory. tried to allocate 2.00 gib") == -1);
  CHECK(memory_of("cpu memory: 12.1 gib") == -1);
  CHECK(memory_of("free memory: 12.1 gib") == -1);
  CHECK(memory_of("total memory: 80 gib") == -1);
  CHECK(memory_of("the schema 3 is known") == -1);
}

}  // namespace
}  // namespace shardlab
